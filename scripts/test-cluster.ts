/**
 * Tests the charts on the cluster of KUBECONFIG: `npm run test:cluster -- --image IMAGE:1 --next IMAGE:2`. It
 * creates separate namespaces and deletes them at the end.
 */
import { parseArgs } from 'node:util';
import { formatError } from '#libs/service';
import { testCharts } from './cluster/run.ts';

const options = {
  namespace: { type: 'string', default: 'pds-proof' },
  /** The installed image, and the image of the upgrade. The nodes must have both or be able to pull them. */
  image: { type: 'string', default: 'process-document-service:1' },
  next: { type: 'string', default: 'process-document-service:2' },
  /** The image for Deno. Without it, the steps for Deno are skipped. */
  deno: { type: 'string' },
  'mongodb-image': { type: 'string' },
  'rabbitmq-image': { type: 'string' },
  /** URL of the ingress controller, and its kind. */
  origin: { type: 'string', default: 'http://127.0.0.1' },
  ingress: { type: 'string', default: 'traefik' },
  /** Address at which pods reach this machine; default: its first external IPv4 address. */
  'own-address': { type: 'string' },
  /** Keeps the namespaces at the end. */
  keep: { type: 'boolean', default: false },
} as const;

try {
  const { values } = parseArgs({ options });
  await testCharts({
    ...values,
    nextImage: values.next,
    denoImage: values.deno,
    hostAddress: values['own-address'],
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
