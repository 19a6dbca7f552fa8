/** The chart on a cluster: rehearsed, installed, changed, tested, taken back. */
import { join } from 'node:path';
import { type Cluster, tell } from './tools.ts';

const root = join(import.meta.dirname, '..', '..');
const chart = join(root, 'charts', 'platform');
const forDevelopment = join(root, 'k8s', 'values-dev.yaml');

/** The five, by the names of their deployments behind the release's. */
export const services = ['identity', 'documents', 'sharing', 'export', 'webhook-delivery'] as const;

/** A release of the chart. */
export interface Release {
  name: string;
  /** Installs it or brings it to these values, and waits until it runs. */
  upgrade(image: string, ...more: string[]): Promise<void>;
  /** The number of what is installed now. */
  revision(): Promise<number>;
  /** Takes it back to how it was at a revision. */
  rollback(revision: number): Promise<void>;
  /** Runs the chart's own tests. */
  test(): Promise<void>;
  /** Its pods that serve, of one service or of all. */
  // biome-ignore lint/suspicious/noExplicitAny: Kubernetes' objects are of many shapes
  pods(service?: string): Promise<any[]>;
}

/** The release of this name in the cluster's namespace, with values beside those for development. */
export function release(cluster: Cluster, name: string, values: object): Release {
  return {
    name,
    async upgrade(image, ...more) {
      const [, repository, tag] = /^(.*):([^:/]+)$/.exec(image) ?? [];
      const files = ['--values', forDevelopment, '--values', '-'];
      const which = ['--set-string', `global.image.repository=${repository},global.image.tag=${tag}`];
      const args = [
        'upgrade',
        '--install',
        name,
        chart,
        ...files,
        ...which,
        '--wait',
        '--timeout',
        '4m',
        ...more,
      ];
      await tell('helm', ['--namespace', cluster.namespace, ...args], JSON.stringify(values));
    },
    revision: async () => JSON.parse(await cluster.helm('status', name, '--output', 'json')).version,
    async rollback(revision) {
      await cluster.helm('rollback', name, String(revision), '--wait', '--timeout', '4m');
    },
    async test() {
      await cluster.helm('test', name, '--logs', '--timeout', '2m');
    },
    pods(service) {
      const of = service ? `,app.kubernetes.io/name=${service}` : '';
      const which = `app.kubernetes.io/component=service,app.kubernetes.io/instance=${name}${of}`;
      return cluster.list('pods', '--selector', which, '--field-selector', 'status.phase=Running');
    },
  };
}
