/** Runs command blocks in a shell, to their end or in the background. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { slowness, until } from '#libs/testing';
import type { Block } from './blocks.ts';
import type { Program } from './programs.ts';

/** Where a block runs. */
export interface Place {
  folder: string;
  environment: Record<string, string | undefined>;
}

/** A block that runs in the background. */
export interface Background {
  /** The output so far. */
  printed(): string;
  /** Resolves when it is ready. Rejects if it ends before or takes longer than 180 s, or more on a slow machine. */
  ready: Promise<void>;
  /** Stops all of its processes with SIGTERM, after 60 s or more with SIGKILL. Resolves when none is left. */
  stop(): Promise<void>;
}

/** Limits for a block and for its stop, ms. */
const [limitMs, stopMs] = [180_000, 60_000];

/** Precedes every block: a failing command ends the block, and curl fails on HTTP errors. */
const prelude = `set -eu
curl() { command curl --fail-with-body --silent --show-error "$@"; }
`;

/** Runs a block to its end. Returns its output. Rejects if it fails. */
export async function runToEnd(block: Block, place: Place): Promise<string> {
  const { child, printed, closed } = start(block, place);
  const limit = setTimeout(() => signal(child, 'SIGKILL'), limitMs * slowness);
  const code = await closed;
  clearTimeout(limit);
  if (code !== 0) throw blockError(block, `ended with ${code}`, printed());
  return printed();
}

/** Starts a block in the background. */
export function runInBackground(
  block: Block,
  place: Place,
  { isReady, diagnose }: Pick<Program, 'isReady' | 'diagnose'>,
): Background {
  const { child, printed, closed } = start(block, place);
  let ended: number | undefined;
  void closed.then((code) => {
    ended = code;
  });
  const becomeReady = async () => {
    const what = `${block.page}:${block.line} to be ready`;
    await until(what, async () => ended !== undefined || (await isReady(printed())), limitMs).catch(
      async (error) => {
        const state = `${(await diagnose?.()) ?? ''}\n${listProcesses(child)}`;
        throw blockError(block, String(error), `${printed()}\n${state}`);
      },
    );
    if (ended !== undefined) throw blockError(block, `ended with ${ended} before it was ready`, printed());
  };
  const ready = becomeReady();
  // the block may be stopped before a caller awaits `ready`
  ready.catch(() => {});
  const stop = async () => {
    signal(child, 'SIGTERM');
    const limit = setTimeout(() => signal(child, 'SIGKILL'), stopMs * slowness);
    await closed;
    clearTimeout(limit);
  };
  return { printed, ready, stop };
}

function start({ text }: Block, { folder, environment }: Place) {
  // a new process group, so all its processes can be stopped together
  const child = spawn('bash', ['-c', prelude + text], {
    cwd: folder,
    env: environment,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let all = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => {
      all += part;
    });
  // `close` comes after the last process that holds the output has ended, not only the shell
  const closed = once(child, 'close').then(([code]) => Number(code ?? 1));
  return { child, printed: () => all, closed };
}

/** Lists a process and its descendants with their state, CPU time and the system call in which they wait. */
function listProcesses({ pid }: ChildProcess): string {
  const all = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,stat=,time=,wchan:24=,args='], {
    encoding: 'utf8',
  });
  const lines = all
    .split('\n')
    .map((line) => ({ line, ids: line.trim().split(/\s+/).slice(0, 2).map(Number) }));
  const pids = new Set([pid]);
  // a parent may be listed after its child
  for (const _ of lines) for (const { ids } of lines) if (pids.has(ids[1])) pids.add(ids[0]);
  return lines.flatMap(({ line, ids }) => (pids.has(ids[0]) ? [line.slice(0, 200)] : [])).join('\n');
}

/** Sends a signal to the process group of a block. */
function signal({ pid }: ChildProcess, name: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, name);
  } catch {
    // the group has already ended
  }
}

function blockError({ page, line, text }: Block, what: string, printed: string): Error {
  return new Error(`${page}:${line}: the block ${what}\n\n${text}\n${printed.slice(-4_000)}`);
}
