/** Installs MongoDB and RabbitMQ from k8s/ in a development cluster, optionally with other images. */
import { join } from 'node:path';
import { type Cluster, runToolOrThrow } from './tools.ts';

const root = join(import.meta.dirname, '..', '..');

/** Replacement images by their name in k8s/. */
export type Images = Readonly<Record<string, string>>;

// biome-ignore lint/suspicious/noExplicitAny: Kubernetes' objects are of many shapes
type Manifest = any;

/** Applies the manifests and waits until MongoDB and RabbitMQ are ready. */
export async function applyDependencies(cluster: Cluster, images: Images): Promise<void> {
  const hasVolumes = await hasDefaultStorageClass(cluster);
  for (const folder of ['mongodb', 'rabbitmq'])
    await cluster.apply(
      (await readManifests(folder)).map((manifest) => adaptManifest(manifest, images, hasVolumes)),
    );
  for (const name of ['mongodb', 'rabbitmq'])
    await cluster.kubectl('rollout', 'status', `statefulset/${name}`, '--timeout=60s');
}

/** Returns whether the cluster can provision volumes. */
async function hasDefaultStorageClass(cluster: Cluster): Promise<boolean> {
  const classes = await cluster.list('storageclasses');
  return classes.some(
    ({ metadata }: Manifest) =>
      metadata.annotations?.['storageclass.kubernetes.io/is-default-class'] === 'true',
  );
}

async function readManifests(folder: string): Promise<Manifest[]> {
  const path = join(root, 'k8s', folder);
  const text = await runToolOrThrow('kubectl', [
    'create',
    '--dry-run=client',
    '--output',
    'json',
    '--kustomize',
    path,
  ]);
  const objects: Manifest[] = text
    .split(/^(?=\{)/m)
    .filter((part) => part.trim() !== '')
    .map((part) => JSON.parse(part));
  return objects.flatMap((object) => object.items ?? [object]);
}

function adaptManifest(manifest: Manifest, images: Images, keepsDisks: boolean): Manifest {
  // kubectl sets the client's default namespace
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
