/** Programs in processes of their own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { request } from 'undici';

const root = join(import.meta.dirname, '..');
const readyWithinMs = 60_000;

/** A running program that answers HTTP. */
export interface Program {
  origin: string;
  pid: number;
  /** From the start of the process to its first right answer, ms. */
  readyMs: number;
  stop(): Promise<void>;
}

/** What to run: `ready` is a path that answers once the program is ready, `flags` are Node's. */
export interface Run {
  file: string;
  ready: string;
  /** What it answers then; 200 unless said. */
  readyStatus?: number;
  environment(port: number): Record<string, string>;
  flags?: readonly string[];
}

/** Starts a program on a free port of loopback and waits until it is ready; rejects with what it printed when it ends. */
export async function start({
  file,
  ready,
  readyStatus = 200,
  environment,
  flags = [],
}: Run): Promise<Program> {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  const guard = ['--require', join(root, 'scripts', 'end-with-parent.cjs')];
  const startedAt = performance.now();
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', ...guard, ...flags, join(root, file)],
    {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH,
        HOME,
        ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }),
        PDS_PARENT_PID: String(process.pid),
        ...environment(port),
      },
    },
  );
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (part: Buffer) => {
      printed = (printed + part).slice(-10_000);
    });
  const readyMs = await answering(child, origin + ready, readyStatus, startedAt).catch(
    async (error: unknown) => {
      await ended(child);
      throw new Error(`${file} did not become ready:\n${printed}`, { cause: error });
    },
  );
  return { origin, pid: child.pid ?? 0, readyMs, stop: () => ended(child) };
}

async function answering(
  child: ChildProcess,
  url: string,
  right: number,
  startedAt: number,
): Promise<number> {
  while (child.exitCode === null && child.signalCode === null) {
    const status = await statusOf(url).catch(() => 0);
    const afterMs = performance.now() - startedAt;
    if (status === right) return afterMs;
    if (afterMs > readyWithinMs) throw new Error(`${url} does not answer`);
    await pause(4);
  }
  throw new Error('The program has ended');
}

async function statusOf(url: string): Promise<number> {
  const { statusCode, body } = await request(url);
  await body.dump({ limit: 2 ** 30 });
  return statusCode;
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  const force = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await exit;
  clearTimeout(force);
}

/** A port of loopback that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  // a TCP server's address is an object once it listens
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
