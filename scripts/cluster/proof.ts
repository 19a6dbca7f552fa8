/** The proof, step by step: installed, used, attacked, upgraded under load, killed under load, taken back. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatError } from '#libs/service';
import { type ConnectProxy, connectProxy, until } from '#libs/testing';
import { client } from '../../tests/chaos/workload/client.ts';
import { chaosReceiver } from '../../tests/chaos/workload/receiver.ts';
import { runDemo } from '../../tests/demo.ts';
import { restrictedNamespace, unconfined } from './admission.ts';
import { tried } from './cases.ts';
import { type Images, keepDependencies } from './dependencies.ts';
import { killed } from './killing.ts';
import { type Counted, underLoad } from './load.ts';
import { ownAddress } from './own-address.ts';
import { type Release, release, services } from './release.ts';
import { keepSecrets } from './secrets.ts';
import { ask, type Cluster, cluster } from './tools.ts';
import { wrongGrants } from './users.ts';
import { settled, workingOffice, workingThrough } from './work.ts';

/** What to prove, and where. */
export interface Proof {
  namespace: string;
  image: string;
  next: string;
  images: Images;
  origin: string;
  ingress: string;
  ownAddress: string | undefined;
  /** Our image for Deno, if that is to be proven too. */
  deno: string | undefined;
  keep: boolean;
}

/** Proves it all; rejects with the first step that fails. */
export async function prove(proof: Proof): Promise<void> {
  const there = cluster(proof.namespace);
  // pods reach a receiver on this machine through it
  const host = proof.ownAddress ?? ownAddress();
  const [way, mail] = await Promise.all([connectProxy({ host }), chaosReceiver()]);
  const ours = release(there, 'pds', valuesFor(proof, host, way));
  try {
    await step('a namespace that lets nothing in but restricted pods', () => restrictedNamespace(there));
    await step('the API server takes the chart in every case, and notices what is wrong', () => tried(there));
    await step('MongoDB and RabbitMQ run in it', async () => {
      await keepSecrets(there);
      await keepDependencies(there, proof.images);
    });
    await step('the chart is installed', () => ours.upgrade(proof.image));
    await step('the chart’s own tests', () => ours.test());
    const first = await ours.revision();
    await confinement(there, ours);
    await doors(proof, ours);
    await step('the main job through the ingress', () => mainJob(proof.origin));
    await step('MongoDB keeps the services apart', async () =>
      assert.deepEqual(await wrongGrants(there), []),
    );

    const api = client(proof.origin);
    const office = await workingOffice(api, mail);
    const load = (what: string, work: () => Promise<void>) =>
      step(what, async () => faultless(await underLoad({ origin: proof.origin, office, clients: 4 }, work)));
    await load('an upgrade under load', () => ours.upgrade(proof.next));
    await step('every pod runs the new image', () => onlyImage(ours, proof.next));
    await load('an upgrade to an image that is not there is taken back by itself', async () => {
      const missing = proof.next.replace(/:[^:]+$/, ':is-not-there');
      await assert.rejects(
        ours.upgrade(missing, '--atomic', '--timeout', '30s'),
        /UPGRADE FAILED|rolled back/,
      );
    });
    await step('every pod still runs the new image', () => onlyImage(ours, proof.next));
    await load('a rollback under load', () => ours.rollback(first));
    await step('every pod runs the first image', () => onlyImage(ours, proof.image));
    await step('a process of every service killed under load', async () => {
      const offices = await workingThrough(api, mail, async () => {
        for (const name of services) await killed(there, (await ours.pods(name))[0], proof.image);
      });
      for (const one of offices) await settled(proof.origin, mail, one);
      const written = offices.reduce((sum, one) => sum + one.documents.length, 0);
      const changes = offices.reduce((sum, one) => sum + one.changes.length, 0);
      return `${written} documents, ${changes} events, nothing lost and nothing twice; clients asked again ${api.retries()} times`;
    });
    await step('documents are given another pod when there is more to do', () => scaled(there));
    if (proof.deno !== undefined) {
      const image = proof.deno;
      await load('from Node to Deno under load', () => ours.upgrade(image));
      await step('the main job with every service under Deno', () => mainJob(proof.origin));
    }
    console.log('\nAll steps done.');
  } catch (error) {
    await shown(there);
    throw error;
  } finally {
    await way.close();
    await mail.close();
    // it must not hide what went wrong before
    if (!proof.keep) await removed(there).catch((error: unknown) => console.error(formatError(error)));
  }
}

/** No limits on who asks often, all functions of the largest plan, and the way to a receiver on this machine. */
function valuesFor({ ingress }: Proof, host: string, { url, port }: ConnectProxy) {
  // where none is left, an ingress controller may say 404 for what is only away for a moment
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
        // a delivery that was in hand of a killed process is safe for this and 20 s more
        WEBHOOK_TIMEOUT_SECONDS: 4,
        WEBHOOK_RETRY_SCHEDULE_SECONDS: '0.5,2',
      },
      network: {
        egress: [{ to: [{ ipBlock: { cidr: `${host}/32` } }], ports: [{ protocol: 'TCP', port }] }],
      },
    },
  };
}

async function confinement(there: Cluster, ours: Release): Promise<void> {
  await step('pods have no rights and no way to get them', async () => {
    const pods = await ours.pods();
    assert.deepEqual(await unconfined(there, pods), []);
    return `${pods.length} pods`;
  });
}

/** Each route leads to its own service, and none to a management port. */
async function doors({ origin }: Proof, ours: Release): Promise<void> {
  await step('every route leads to its service', async () => {
    const routes = {
      '/api/v1/openapi.json': 200,
      '/api/v1/documents': 401,
      '/embed/nobody/nothing': 404,
      '/api/v1/templates': 401,
      '/api/v1/webhooks': 401,
    };
    for (const [path, status] of Object.entries(routes))
      await until(`${status} from ${path}`, async () => {
        const answer = await fetch(origin + path);
        return answer.status === status && answer.headers.get('content-type')?.includes('json');
      });
  });
  await step('no management port is behind the ingress', async () => {
    for (const path of [
      '/healthz',
      '/readyz',
      '/metrics',
      '/ops/organizations',
      '/api/v1/healthz',
      '/embed/metrics',
    ])
      assert.equal([404].includes((await fetch(origin + path)).status), true, path);
    for (const pod of await ours.pods()) assert.equal(pod.spec.hostNetwork ?? false, false);
  });
}

async function mainJob(origin: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'pds-cluster-'));
  try {
    const { code, text } = await runDemo(origin, folder);
    assert.equal(code, 0, text);
    return `${text.split('\n').filter((line) => line.startsWith('✓')).length} steps`;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function faultless({ requests, failed, failures }: Counted): string {
  assert.equal(failed, 0, `${failed} of ${requests} requests failed:\n${failures.join('\n')}`);
  return `${requests} requests, ${failed} failed`;
}

/** By now there was load enough, where somebody measures it. */
async function scaled(there: Cluster): Promise<string> {
  const metrics = await there.get('apiservice', 'v1beta1.metrics.k8s.io');
  if (!metrics) return 'NOT PROVEN: there is no metrics-server here';
  const status = await until(
    'another pod of documents',
    async () => {
      const { status: now } = await there.get('horizontalpodautoscaler', 'pds-documents');
      return now.desiredReplicas > 2 && now;
    },
    120_000,
  );
  return `${status.desiredReplicas} pods`;
}

async function onlyImage(ours: Release, image: string): Promise<void> {
  await until(
    `all pods with ${image}`,
    async () => (await ours.pods()).every(({ spec }) => spec.containers[0].image === image),
    90_000,
  );
}

/** What there is to see when something went wrong, before it is removed. */
async function shown(there: Cluster): Promise<void> {
  for (const what of ['pods', 'events']) {
    const { out } = await ask('kubectl', [
      '--namespace',
      there.namespace,
      'get',
      what,
      '--sort-by=.metadata.creationTimestamp',
    ]);
    console.error(`\n${out.split('\n').slice(-20).join('\n')}`);
  }
}

async function removed(there: Cluster): Promise<void> {
  for (const name of [there.namespace, `${there.namespace}-node`])
    await there.kubectl('delete', 'namespace', name, '--ignore-not-found', '--wait=false');
}

async function step(what: string, work: () => Promise<unknown>): Promise<void> {
  const startedAt = performance.now();
  try {
    const said = await work();
    console.log(
      `✓ ${what.padEnd(68)} ${said ?? ''} (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`,
    );
  } catch (error) {
    throw new Error(`${what}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}
