/** The programs that a cluster is worked with: found on the PATH, or in the folder that `CLUSTER_TOOLS` names. */
import { spawn } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';

/** A program of ours to work with a cluster. */
export type Tool = 'helm' | 'kubectl' | 'kubeconform' | 'kube-score' | 'promtool';

/** What a program said, and its exit code. */
export interface Said {
  code: number;
  out: string;
  err: string;
}

/** Where a program is; nothing where it is not there. */
export async function toolPath(tool: Tool): Promise<string | undefined> {
  const folders = [
    ...(process.env.CLUSTER_TOOLS ?? '').split(delimiter),
    ...(process.env.PATH ?? '').split(delimiter),
  ];
  for (const folder of folders.filter(Boolean)) {
    const path = join(folder, tool);
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return path;
  }
  return undefined;
}

/** Runs a program to its end, whatever that is. Rejects where it is not there. */
export async function ask(tool: Tool, args: readonly string[], input?: string): Promise<Said> {
  const path = await toolPath(tool);
  if (!path) throw new Error(`There is no ${tool}: install it, or name its folder in CLUSTER_TOOLS.`);
  const child = spawn(path, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  // a program that ends early does not read to the end
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const code = new Promise<number>((done, reject) => {
    child.on('error', reject);
    child.on('close', (exit) => done(exit ?? 1));
  });
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  // helm says so of a link that is there on purpose, each time
  const said = err.replaceAll(/^.*found symbolic link in path.*\n/gm, '');
  return { code: await code, out, err: said };
}

/** Runs a program that must end well; gives what it printed. */
export async function tell(tool: Tool, args: readonly string[], input?: string): Promise<string> {
  const { code, out, err } = await ask(tool, args, input);
  if (code !== 0) throw new Error(`${tool} ${args.join(' ')} ended with ${code}:\n${err}${out}`);
  return out;
}

/** Programs that all know the cluster's namespace. */
export interface Cluster {
  namespace: string;
  kubectl(...args: string[]): Promise<string>;
  /** Applies objects. */
  apply(objects: readonly object[]): Promise<void>;
  /** An object; nothing where it is not there. */
  // biome-ignore lint/suspicious/noExplicitAny: Kubernetes' objects are of many shapes
  get(...named: string[]): Promise<any>;
  /** The objects of a kind. */
  // biome-ignore lint/suspicious/noExplicitAny: Kubernetes' objects are of many shapes
  list(...asked: string[]): Promise<any[]>;
  helm(...args: string[]): Promise<string>;
}

/** The cluster that KUBECONFIG names, seen from a namespace. */
export function cluster(namespace: string): Cluster {
  const kubectl = (...args: string[]) => tell('kubectl', ['--namespace', namespace, ...args]);
  return {
    namespace,
    kubectl,
    helm: (...args) => tell('helm', ['--namespace', namespace, ...args]),
    async apply(objects) {
      const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
      await tell(
        'kubectl',
        ['--namespace', namespace, 'apply', '--server-side', '--force-conflicts', '--filename', '-'],
        list,
      );
    },
    list: async (...asked) => JSON.parse(await kubectl('get', ...asked, '--output', 'json')).items,
    async get(...named) {
      const text = await kubectl('get', ...named, '--ignore-not-found', '--output', 'json');
      return text.trim() === '' ? undefined : JSON.parse(text);
    },
  };
}
