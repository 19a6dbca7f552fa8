/** MongoDB and RabbitMQ for a development cluster: what lies in k8s/, with images of one's own where the public ones cannot be had. */
import { join } from 'node:path';
import { type Cluster, tell } from './tools.ts';

const root = join(import.meta.dirname, '..', '..');

/** Images by the name that stands in k8s/. */
export type Images = Readonly<Record<string, string>>;

// biome-ignore lint/suspicious/noExplicitAny: Kubernetes' objects are of many shapes
type Manifest = any;

/** Applies both and waits until they answer. */
export async function keepDependencies(cluster: Cluster, images: Images): Promise<void> {
  const keepsDisks = await hasStorage(cluster);
  for (const folder of ['mongodb', 'rabbitmq'])
    await cluster.apply((await manifestsOf(folder)).map((one) => adapted(one, images, keepsDisks)));
  for (const name of ['mongodb', 'rabbitmq'])
    await cluster.kubectl('rollout', 'status', `statefulset/${name}`, '--timeout=60s');
}

/** Whether a volume that is asked for is made. */
async function hasStorage(cluster: Cluster): Promise<boolean> {
  const classes = await cluster.list('storageclasses');
  return classes.some(
    ({ metadata }: Manifest) =>
      metadata.annotations?.['storageclass.kubernetes.io/is-default-class'] === 'true',
  );
}

async function manifestsOf(folder: string): Promise<Manifest[]> {
  const path = join(root, 'k8s', folder);
  const text = await tell('kubectl', ['create', '--dry-run=client', '--output', 'json', '--kustomize', path]);
  const objects: Manifest[] = text
    .split(/^(?=\{)/m)
    .filter((one) => one.trim() !== '')
    .map((one) => JSON.parse(one));
  return objects.flatMap((one) => one.items ?? [one]);
}

function adapted(manifest: Manifest, images: Images, keepsDisks: boolean): Manifest {
  // where the client would have put it
  delete manifest.metadata.namespace;
  if (manifest.kind !== 'StatefulSet') return manifest;
  const { template, volumeClaimTemplates } = manifest.spec;
  const { initContainers = [], containers } = template.spec;
  for (const container of [...initContainers, ...containers])
    container.image = images[container.image] ?? container.image;
  if (keepsDisks) return manifest;
  delete manifest.spec.volumeClaimTemplates;
  template.spec.volumes.push(
    ...volumeClaimTemplates.map(({ metadata }: Manifest) => ({ name: metadata.name, emptyDir: {} })),
  );
  return manifest;
}
