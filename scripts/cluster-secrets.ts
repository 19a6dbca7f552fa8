/**
 * Creates the missing Secrets of a development cluster, and the namespace if it does not exist
 * (`npm run cluster-secrets -- --namespace pds`). Existing Secrets stay unchanged.
 */
import { parseArgs } from 'node:util';
import { formatError } from '#libs/service';
import { createRestrictedNamespace } from './cluster/pod-security.ts';
import { createMissingSecrets } from './cluster/secrets.ts';
import { createCluster } from './cluster/tools.ts';

try {
  const { values } = parseArgs({ options: { namespace: { type: 'string', default: 'pds' } } });
  const cluster = createCluster(values.namespace);
  if (!(await cluster.get('namespace', values.namespace))) await createRestrictedNamespace(cluster);
  const created = await createMissingSecrets(cluster);
  console.log(created.length === 0 ? 'All Secrets exist already.' : `Created: ${created.join(', ')}`);
} catch (error) {
  console.error(formatError(error));
  process.exitCode = 1;
}
