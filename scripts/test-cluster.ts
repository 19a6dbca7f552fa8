/**
 * Proves the charts on the cluster that KUBECONFIG names: `npm run test:cluster -- --image IMAGE:1 --next IMAGE:2`.
 * It works in namespaces of its own, which it removes at the end.
 */
import { parseArgs } from 'node:util';
import { formatError } from '#libs/service';
import { prove } from './cluster/proof.ts';

const options = {
  namespace: { type: 'string', default: 'pds-proof' },
  /** Our image, twice: what is installed, and what it is upgraded to. Nodes must have it or be able to pull it. */
  image: { type: 'string', default: 'process-document-service:1' },
  next: { type: 'string', default: 'process-document-service:2' },
  /** The same for Deno; left out where none is named. */
  deno: { type: 'string' },
  'mongodb-image': { type: 'string' },
  'rabbitmq-image': { type: 'string' },
  /** Where the ingress controller answers, and its class. */
  origin: { type: 'string', default: 'http://127.0.0.1' },
  ingress: { type: 'string', default: 'traefik' },
  /** What pods know this machine by; usually its first address. */
  'own-address': { type: 'string' },
  /** Leaves everything as it is at the end. */
  keep: { type: 'boolean', default: false },
} as const;

try {
  const { values } = parseArgs({ options });
  await prove({
    ...values,
    deno: values.deno,
    ownAddress: values['own-address'],
    images: {
      ...(values['mongodb-image'] && { 'mongo:8.0': values['mongodb-image'] }),
      ...(values['rabbitmq-image'] && { 'rabbitmq:4.1': values['rabbitmq-image'] }),
      'process-document-service': values.image,
    },
  });
} catch (error) {
  console.error(`\n✗ ${formatError(error)}`);
  process.exitCode = 1;
}
