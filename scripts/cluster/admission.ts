/** What the cluster lets in: every pod as the restricted level wants it, and the same pod with one thing less not at all. */
import { ask, type Cluster } from './tools.ts';

// biome-ignore lint/suspicious/noExplicitAny: Kubernetes' objects are of many shapes
type Pod = any;

/** Makes the namespace, in which Kubernetes refuses whatever is less than restricted. */
export async function restrictedNamespace(cluster: Cluster): Promise<void> {
  const labels = {
    'pod-security.kubernetes.io/enforce': 'restricted',
    'pod-security.kubernetes.io/enforce-version': 'latest',
  };
  const metadata = { name: cluster.namespace, labels };
  await cluster.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata }]);
}

/** What is wrong with how pods are confined; nothing when all is well. */
export async function unconfined(cluster: Cluster, pods: readonly Pod[]): Promise<string[]> {
  const wrong = pods.flatMap(({ metadata, spec }) => [
    ...(spec.automountServiceAccountToken === false ? [] : [`${metadata.name} has a token of Kubernetes`]),
    ...spec.volumes.filter((one: Pod) => one.projected).map(() => `${metadata.name} has a projected volume`),
    ...spec.containers
      .filter((one: Pod) => one.securityContext?.readOnlyRootFilesystem !== true)
      .map((one: Pod) => `${metadata.name}/${one.name} can write to its root`),
  ]);
  const [pod] = pods;
  if (!pod) return [...wrong, 'there are no pods'];
  for (const [what, lessen] of Object.entries(lessConfined)) {
    const { spec } = structuredClone(pod);
    lessen(spec);
    const tried = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'less-confined' }, spec };
    const args = ['--namespace', cluster.namespace, 'create', '--dry-run=server', '--filename', '-'];
    const { code, err } = await ask('kubectl', args, JSON.stringify(tried));
    if (code === 0 || !err.includes('violates PodSecurity')) wrong.push(`a pod ${what} is let in: ${err}`);
  }
  return wrong;
}

const lessConfined: Record<string, (spec: Pod) => void> = {
  'that may run as root': (spec) => {
    spec.securityContext = {};
  },
  'that may become more': (spec) => {
    spec.containers[0].securityContext.allowPrivilegeEscalation = true;
  },
  'that keeps capabilities': (spec) => {
    delete spec.containers[0].securityContext.capabilities;
  },
};
