/** Installs, upgrades, tests and rolls back the chart on a cluster. */
import { join } from 'node:path';
import { type Cluster, runToolOrThrow } from './tools.ts';

const root = join(import.meta.dirname, '..', '..');
const chart = join(root, 'charts', 'platform');
const developmentValues = join(root, 'k8s', 'values-dev.yaml');

/** The services, by the part of their deployments' names after the release name. */
export const services = ['identity', 'documents', 'sharing', 'export', 'webhook-delivery'] as const;

/** A release of the chart. */
export interface Release {
  name: string;
  /** Installs or upgrades the release and waits until it is ready. */
  upgrade(image: string, ...more: string[]): Promise<void>;
  /** Returns the number of the installed revision. */
  revision(): Promise<number>;
  /** Rolls back to a revision. */
  rollback(revision: number): Promise<void>;
  /** Runs the chart's own tests. */
  test(): Promise<void>;
  /** Returns the running pods of one service or of all services. */
  // biome-ignore lint/suspicious/noExplicitAny: Kubernetes' objects are of many shapes
  pods(service?: string): Promise<any[]>;
}

/** Creates a handle of the release in the cluster's namespace. `values` extend k8s/values-dev.yaml. */
export function createRelease(cluster: Cluster, name: string, values: object): Release {
  return {
    name,
    async upgrade(image, ...more) {
      const [, repository, tag] = /^(.*):([^:/]+)$/.exec(image) ?? [];
      const files = ['--values', developmentValues, '--values', '-'];
      const imageValues = ['--set-string', `global.image.repository=${repository},global.image.tag=${tag}`];
      const args = [
        'upgrade',
        '--install',
        name,
        chart,
        ...files,
        ...imageValues,
        '--wait',
        '--timeout',
        '4m',
        ...more,
      ];
      await runToolOrThrow('helm', ['--namespace', cluster.namespace, ...args], JSON.stringify(values));
    },
    revision: async () => JSON.parse(await cluster.helm('status', name, '--output', 'json')).version,
    async rollback(revision) {
      await cluster.helm('rollback', name, String(revision), '--wait', '--timeout', '4m');
    },
    async test() {
      await cluster.helm('test', name, '--logs', '--timeout', '2m');
    },
    pods(service) {
      const serviceLabel = service ? `,app.kubernetes.io/name=${service}` : '';
      const selector = `app.kubernetes.io/component=service,app.kubernetes.io/instance=${name}${serviceLabel}`;
      return cluster.list('pods', '--selector', selector, '--field-selector', 'status.phase=Running');
    },
  };
}
