/**
 * Checks that the chart's pods meet the Pod Security level "restricted", and that the cluster rejects weaker
 * pods.
 */
import { type Cluster, runTool } from './tools.ts';

// biome-ignore lint/suspicious/noExplicitAny: Kubernetes' objects are of many shapes
type Pod = any;

/** Creates the namespace with the Pod Security level "restricted" enforced. */
export async function createRestrictedNamespace(cluster: Cluster): Promise<void> {
  const labels = {
    'pod-security.kubernetes.io/enforce': 'restricted',
    'pod-security.kubernetes.io/enforce-version': 'latest',
  };
  const metadata = { name: cluster.namespace, labels };
  await cluster.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata }]);
}

/** Returns what is wrong with the security of these pods; empty if nothing is. */
export async function findUnrestrictedPods(cluster: Cluster, pods: readonly Pod[]): Promise<string[]> {
  const errors = pods.flatMap(({ metadata, spec }) => [
    ...(spec.automountServiceAccountToken === false ? [] : [`${metadata.name} has a Kubernetes API token`]),
    ...spec.volumes
      .filter((volume: Pod) => volume.projected)
      .map(() => `${metadata.name} has a projected volume`),
    ...spec.containers
      .filter((container: Pod) => container.securityContext?.readOnlyRootFilesystem !== true)
      .map((container: Pod) => `${metadata.name}/${container.name} has a writable root filesystem`),
  ]);
  const [pod] = pods;
  if (!pod) return [...errors, 'no pods were found'];
  for (const [description, relax] of Object.entries(relaxations)) {
    const { spec } = structuredClone(pod);
    relax(spec);
    const relaxedPod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'less-confined' }, spec };
    const args = ['--namespace', cluster.namespace, 'create', '--dry-run=server', '--filename', '-'];
    const { code, err } = await runTool('kubectl', args, JSON.stringify(relaxedPod));
    if (code === 0 || !err.includes('violates PodSecurity'))
      errors.push(`a pod ${description} was not rejected: ${err}`);
  }
  return errors;
}

const relaxations: Record<string, (spec: Pod) => void> = {
  'that may run as root': (spec) => {
    spec.securityContext = {};
  },
  'that allows privilege escalation': (spec) => {
    spec.containers[0].securityContext.allowPrivilegeEscalation = true;
  },
  'that keeps capabilities': (spec) => {
    delete spec.containers[0].securityContext.capabilities;
  },
};
