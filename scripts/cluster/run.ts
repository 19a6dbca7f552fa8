/** Tests the chart on a cluster: installation, use, security, upgrades, kills and rollbacks under load. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatError } from '#libs/service';
import {
  apiClient,
  type ConnectProxy,
  connectProxy,
  httpClient,
  retryingClient,
  until,
  webhookReceiver,
} from '#libs/testing';
import { runDemo } from '../../tests/demo.ts';
import { applyDependencies, type Images } from './dependencies.ts';
import { dryRunCases } from './dry-run.ts';
import { findWrongGrants } from './grants.ts';
import { getHostAddress } from './host-address.ts';
import { killPodProcess } from './kill-process.ts';
import { type LoadResult, runUnderLoad } from './load.ts';
import { createRestrictedNamespace, findUnrestrictedPods } from './pod-security.ts';
import { createRelease, type Release, services } from './release.ts';
import { createMissingSecrets } from './secrets.ts';
import { checkTenant, createWorkingTenant, workDuring } from './tenants.ts';
import { type Cluster, createCluster, runTool } from './tools.ts';

/** Options of the test. */
export interface ClusterTestOptions {
  namespace: string;
  image: string;
  nextImage: string;
  images: Images;
  origin: string;
  ingress: string;
  hostAddress: string | undefined;
  /** The image for Deno. Without it, the steps for Deno are skipped. */
  denoImage: string | undefined;
  keep: boolean;
}

/** Runs all steps. Rejects with the first one that fails. */
export async function testCharts(options: ClusterTestOptions): Promise<void> {
  const cluster = createCluster(options.namespace);
  // pods reach the webhook receiver on this machine through a proxy
  const host = options.hostAddress ?? getHostAddress();
  const [proxy, receiver] = await Promise.all([connectProxy({ host }), webhookReceiver()]);
  const platform = createRelease(cluster, 'pds', createValues(options, host, proxy));
  try {
    await step('create a namespace for restricted pods only', () => createRestrictedNamespace(cluster));
    await step('the API server accepts the chart in all cases, rejects errors', () => dryRunCases(cluster));
    await step('install MongoDB and RabbitMQ', async () => {
      await createMissingSecrets(cluster);
      await applyDependencies(cluster, options.images);
    });
    await step('install the chart', () => platform.upgrade(options.image));
    await step('run the chart’s tests', () => platform.test());
    const first = await platform.revision();
    await checkPodSecurity(cluster, platform);
    await checkRoutes(options, platform);
    await step('run the demo through the ingress', () => runMainJob(options.origin));
    await step('each MongoDB user has exactly its grants', async () =>
      assert.deepEqual(await findWrongGrants(cluster), []),
    );

    const api = retryingClient(apiClient(options.origin, { timeoutMs: 20_000 }));
    const tenant = await createWorkingTenant(api, receiver);
    const load = (name: string, work: () => Promise<void>) =>
      step(name, async () =>
        assertNoFailures(await runUnderLoad({ origin: options.origin, tenant, clients: 4 }, work)),
      );
    await load('upgrade under load', () => platform.upgrade(options.nextImage));
    await step('every pod runs the new image', () => waitForImage(platform, options.nextImage));
    await load('an upgrade to a missing image is rolled back automatically', async () => {
      const missing = options.nextImage.replace(/:[^:]+$/, ':is-not-there');
      await assert.rejects(
        platform.upgrade(missing, '--atomic', '--timeout', '30s'),
        /UPGRADE FAILED|rolled back/,
      );
    });
    await step('every pod still runs the new image', () => waitForImage(platform, options.nextImage));
    await load('roll back under load', () => platform.rollback(first));
    await step('every pod runs the first image', () => waitForImage(platform, options.image));
    await step('kill a process of every service under load', async () => {
      const tenants = await workDuring(api, receiver, async () => {
        for (const name of services)
          await killPodProcess(cluster, (await platform.pods(name))[0], options.image);
      });
      for (const worker of tenants) await checkTenant(api, receiver, worker);
      const written = tenants.reduce((sum, { documents }) => sum + documents.length, 0);
      const changes = tenants.reduce((sum, { changes: events }) => sum + events.length, 0);
      return `${written} documents, ${changes} events, none lost or duplicated; clients repeated ${api.retries()} requests`;
    });
    await step('the autoscaler adds a pod of documents under load', () => waitForScaling(cluster));
    if (options.denoImage !== undefined) {
      const image = options.denoImage;
      await load('upgrade from Node to Deno under load', () => platform.upgrade(image));
      await step('run the demo with all services under Deno', () => runMainJob(options.origin));
    }
    console.log('\nAll steps done.');
  } catch (error) {
    await printState(cluster);
    throw error;
  } finally {
    await proxy.close();
    await receiver.close();
    // a failure of the cleanup must not hide an earlier error
    if (!options.keep)
      await deleteNamespaces(cluster).catch((error: unknown) => console.error(formatError(error)));
  }
}

/**
 * Creates chart values without rate limits, with the largest plan and with access to the receiver on this
 * machine.
 */
function createValues({ ingress }: ClusterTestOptions, host: string, { url, port }: ConnectProxy) {
  // with one replica, an ingress controller may return 404 while the pod restarts
  const replicas = 2;
  return {
    global: { env: { RATE_LIMIT_PER_MINUTE: 0 } },
    ingress: { kind: ingress },
    identity: {
      replicas,
      env: { DEFAULT_PLAN: 'scale', REGISTRATIONS_PER_HOUR: 0, LOGINS_PER_MINUTE: 0 },
    },
    documents: { autoscaling: { type: 'cpu', min: replicas, max: replicas + 1 } },
    sharing: { replicas },
    export: { replicas },
    'webhook-delivery': {
      replicas,
      env: {
        WEBHOOK_ALLOW_INSECURE_TARGETS: true,
        WEBHOOK_PROXY_URL: url,
        // the lease of a killed process ends 20 s after this timeout
        WEBHOOK_TIMEOUT_SECONDS: 4,
        WEBHOOK_RETRY_SCHEDULE_SECONDS: '0.5,2',
      },
      network: {
        egress: [{ to: [{ ipBlock: { cidr: `${host}/32` } }], ports: [{ protocol: 'TCP', port }] }],
      },
    },
  };
}

async function checkPodSecurity(cluster: Cluster, platform: Release): Promise<void> {
  await step('pods have no privileges and cannot get any', async () => {
    const pods = await platform.pods();
    assert.deepEqual(await findUnrestrictedPods(cluster, pods), []);
    return `${pods.length} pods`;
  });
}

/** Checks that each route reaches its service and none reaches a management port. */
async function checkRoutes({ origin }: ClusterTestOptions, platform: Release): Promise<void> {
  await step('every route reaches its service', async () => {
    const routes = {
      '/api/v1/openapi.json': 200,
      '/api/v1/documents': 401,
      '/embed/nobody/nothing': 404,
      '/api/v1/templates': 401,
      '/api/v1/webhooks': 401,
    };
    for (const [path, status] of Object.entries(routes))
      await until(`${status} from ${path}`, async () => {
        const response = await httpClient(origin).request('GET', path);
        return response.status === status && response.headers.get('content-type')?.includes('json');
      });
  });
  await step('the ingress does not expose management ports', async () => {
    for (const path of [
      '/healthz',
      '/readyz',
      '/metrics',
      '/ops/organizations',
      '/api/v1/healthz',
      '/embed/metrics',
    ])
      assert.equal([404].includes((await httpClient(origin).request('GET', path)).status), true, path);
    for (const pod of await platform.pods()) assert.equal(pod.spec.hostNetwork ?? false, false);
  });
}

async function runMainJob(origin: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'pds-cluster-'));
  try {
    const { code, text } = await runDemo(origin, folder);
    assert.equal(code, 0, text);
    return `${text.split('\n').filter((line) => line.startsWith('✓')).length} steps`;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function assertNoFailures({ requests, failed, failures }: LoadResult): string {
  assert.equal(failed, 0, `${failed} of ${requests} requests failed:\n${failures.join('\n')}`);
  return `${requests} requests, ${failed} failed`;
}

/**
 * Waits for another pod of documents. The load of the earlier steps is enough, if the cluster has a metrics
 * server.
 */
async function waitForScaling(cluster: Cluster): Promise<string> {
  const metrics = await cluster.get('apiservice', 'v1beta1.metrics.k8s.io');
  if (!metrics) return 'NOT TESTED: the cluster has no metrics-server';
  const status = await until(
    'another pod of documents',
    async () => {
      const { status: now } = await cluster.get('horizontalpodautoscaler', 'pds-documents');
      return now.desiredReplicas > 2 && now;
    },
    120_000,
  );
  return `${status.desiredReplicas} pods`;
}

async function waitForImage(platform: Release, image: string): Promise<void> {
  await until(
    `all pods with ${image}`,
    async () => (await platform.pods()).every(({ spec }) => spec.containers[0].image === image),
    90_000,
  );
}

/** Prints the pods and events after a failure, before the namespaces are deleted. */
async function printState(cluster: Cluster): Promise<void> {
  for (const kind of ['pods', 'events']) {
    const { out } = await runTool('kubectl', [
      '--namespace',
      cluster.namespace,
      'get',
      kind,
      '--sort-by=.metadata.creationTimestamp',
    ]);
    console.error(`\n${out.split('\n').slice(-20).join('\n')}`);
  }
}

async function deleteNamespaces(cluster: Cluster): Promise<void> {
  for (const name of [cluster.namespace, `${cluster.namespace}-node`])
    await cluster.kubectl('delete', 'namespace', name, '--ignore-not-found', '--wait=false');
}

async function step(name: string, work: () => Promise<unknown>): Promise<void> {
  const startedAt = performance.now();
  try {
    const summary = await work();
    console.log(
      `✓ ${name.padEnd(68)} ${summary ?? ''} (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`,
    );
  } catch (error) {
    throw new Error(`${name}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}
