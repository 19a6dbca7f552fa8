/** Creates the missing Secrets of a development cluster, and the namespace if it does not exist. */
import { parseArgs } from 'node:util';
import { createRestrictedNamespace } from '../../scripts/cluster/pod-security.ts';
import { createMissingSecrets } from '../../scripts/cluster/secrets.ts';
import { createCluster } from '../../scripts/cluster/tools.ts';
import type { Command } from './command.ts';

const usage = `Creates the missing Secrets of a development cluster, and the namespace if it does not exist.
Existing Secrets stay unchanged.

  npm run admin -- cluster-secrets --namespace pds`;

export const command: Command = {
  usage,
  async run(args) {
    const { values } = parseArgs({ args, options: { namespace: { type: 'string', default: 'pds' } } });
    const cluster = createCluster(values.namespace);
    if (!(await cluster.get('namespace', values.namespace))) await createRestrictedNamespace(cluster);
    const created = await createMissingSecrets(cluster);
    console.log(created.length === 0 ? 'All Secrets exist already.' : `Created: ${created.join(', ')}`);
  },
};
