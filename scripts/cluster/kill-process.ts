/**
 * Kills a process in a pod by SIGKILL. No process in a pod can kill its first process, so a pod on the node
 * does it.
 */
import { until } from '#libs/testing';
import { type Cluster, createCluster } from './tools.ts';

// biome-ignore lint/suspicious/noExplicitAny: Kubernetes' objects are of many shapes
type Pod = any;

/** Program that runs on the node, sees all its processes and kills the one of the pod and program. */
const killer = `
  const fs = require('node:fs');
  const [uid, program] = process.argv.slice(1);
  const read = (path) => { try { return fs.readFileSync(path, 'utf8'); } catch { return ''; } };
  const victims = fs.readdirSync('/proc').filter((pid) => /^\\d+$/.test(pid)
    && [uid, uid.replaceAll('-', '_')].some((name) => read('/proc/' + pid + '/cgroup').includes(name))
    && read('/proc/' + pid + '/cmdline').includes(program));
  for (const pid of victims) process.kill(Number(pid), 'SIGKILL');
  process.exit(victims.length === 1 ? 0 : 1);
`;

/**
 * Kills the process of a pod's first container. Resolves when Kubernetes has restarted it and it is ready.
 */
export async function killPodProcess(cluster: Cluster, pod: Pod, image: string): Promise<void> {
  const { name, uid } = pod.metadata;
  const [before] = pod.status.containerStatuses;
  const node = createCluster(`${cluster.namespace}-node`);
  const labels = { 'pod-security.kubernetes.io/enforce': 'privileged' };
  await node.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: node.namespace, labels } }]);
  await node.kubectl('delete', 'pod', 'killer', '--ignore-not-found', '--grace-period=1');
  const container = {
    name: 'killer',
    image,
    args: ['-e', killer, uid, pod.spec.containers[0].args[0]],
    securityContext: { runAsUser: 0 },
  };
  const spec = {
    hostPID: true,
    nodeName: pod.spec.nodeName,
    restartPolicy: 'Never',
    containers: [container],
  };
  await node.apply([{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'killer' }, spec }]);
  await node.kubectl('wait', 'pod/killer', '--for=jsonpath={.status.phase}=Succeeded', '--timeout=60s');
  await until(
    `${name} to be killed and ready again`,
    async () => {
      const [now] = (await cluster.get('pod', name))?.status.containerStatuses ?? [];
      return (
        now?.ready && now.restartCount > before.restartCount && now.lastState.terminated?.exitCode === 137
      );
    },
    120_000,
  );
}
