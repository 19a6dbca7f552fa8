/** Makes the Secrets of a development cluster (`npm run cluster-secrets -- --namespace pds`), and the namespace if need be; what is there stays. */
import { parseArgs } from 'node:util';
import { formatError } from '#libs/service';
import { restrictedNamespace } from './cluster/admission.ts';
import { keepSecrets } from './cluster/secrets.ts';
import { cluster } from './cluster/tools.ts';

try {
  const { values } = parseArgs({ options: { namespace: { type: 'string', default: 'pds' } } });
  const there = cluster(values.namespace);
  if (!(await there.get('namespace', values.namespace))) await restrictedNamespace(there);
  const made = await keepSecrets(there);
  console.log(made.length === 0 ? 'All Secrets are there already.' : `Made: ${made.join(', ')}`);
} catch (error) {
  console.error(formatError(error));
  process.exitCode = 1;
}
