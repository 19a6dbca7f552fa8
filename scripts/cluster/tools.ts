/** Runs the command line tools for clusters. They must be on the PATH or in the folder `CLUSTER_TOOLS`. */
import { spawn } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';

/** Name of a tool. */
export type Tool = 'helm' | 'kubectl' | 'kubeconform' | 'kube-score' | 'promtool';

/** Output and exit code of a tool. */
export interface CommandResult {
  code: number;
  out: string;
  err: string;
}

/** Returns the path of a tool, or undefined if it is not installed. */
export async function findTool(tool: Tool): Promise<string | undefined> {
  const folders = [
    ...(process.env.CLUSTER_TOOLS ?? '').split(delimiter),
    ...(process.env.PATH ?? '').split(delimiter),
  ];
  for (const folder of folders.filter(Boolean)) {
    const path = join(folder, tool);
    const isExecutable = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isExecutable) return path;
  }
  return undefined;
}

/** Runs a tool and returns its result, also if it fails. Rejects if the tool is not installed. */
export async function runTool(tool: Tool, args: readonly string[], input?: string): Promise<CommandResult> {
  const path = await findTool(tool);
  if (!path) throw new Error(`${tool} was not found. Install it, or set CLUSTER_TOOLS to its folder.`);
  const child = spawn(path, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  // a tool that exits early does not read all input
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const code = new Promise<number>((done, reject) => {
    child.on('error', reject);
    child.on('close', (exit) => done(exit ?? 1));
  });
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  // helm warns about the symbolic link in the chart, which is intended
  const errors = err.replaceAll(/^.*found symbolic link in path.*\n/gm, '');
  return { code: await code, out, err: errors };
}

/** Runs a tool and returns its output. Rejects if it exits with another code than 0. */
export async function runToolOrThrow(tool: Tool, args: readonly string[], input?: string): Promise<string> {
  const { code, out, err } = await runTool(tool, args, input);
  if (code !== 0) throw new Error(`${tool} ${args.join(' ')} exited with ${code}:\n${err}${out}`);
  return out;
}

/** The tools, with the namespace of the cluster preset. */
export interface Cluster {
  namespace: string;
  kubectl(...args: string[]): Promise<string>;
  apply(objects: readonly object[]): Promise<void>;
  /** Returns an object, or undefined if it does not exist. */
  // biome-ignore lint/suspicious/noExplicitAny: Kubernetes' objects are of many shapes
  get(...args: string[]): Promise<any>;
  /** Returns the objects of a kind. */
  // biome-ignore lint/suspicious/noExplicitAny: Kubernetes' objects are of many shapes
  list(...args: string[]): Promise<any[]>;
  helm(...args: string[]): Promise<string>;
}

/** Creates the tools for a namespace of the cluster of KUBECONFIG. */
export function createCluster(namespace: string): Cluster {
  const kubectl = (...args: string[]) => runToolOrThrow('kubectl', ['--namespace', namespace, ...args]);
  return {
    namespace,
    kubectl,
    helm: (...args) => runToolOrThrow('helm', ['--namespace', namespace, ...args]),
    async apply(objects) {
      const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
      await runToolOrThrow(
        'kubectl',
        ['--namespace', namespace, 'apply', '--server-side', '--force-conflicts', '--filename', '-'],
        list,
      );
    },
    list: async (...args) => JSON.parse(await kubectl('get', ...args, '--output', 'json')).items,
    async get(...args) {
      const text = await kubectl('get', ...args, '--ignore-not-found', '--output', 'json');
      return text.trim() === '' ? undefined : JSON.parse(text);
    },
  };
}
