/** Makes the Secrets of a development cluster in a namespace: `npm run cluster-secrets -- --namespace pds`; what is there stays. */
import { parseArgs } from 'node:util';
import { sentenceOf } from '#libs/service';
import { keepSecrets } from './cluster/secrets.ts';
import { cluster } from './cluster/tools.ts';

try {
  const { values } = parseArgs({ options: { namespace: { type: 'string', default: 'pds' } } });
  const made = await keepSecrets(cluster(values.namespace));
  console.log(made.length === 0 ? 'All Secrets are there already.' : `Made: ${made.join(', ')}`);
} catch (error) {
  console.error(sentenceOf(error));
  process.exitCode = 1;
}
