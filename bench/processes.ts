/** Starts and stops the measured processes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePorts, httpClient } from '#libs/testing';

const root = join(import.meta.dirname, '..');
const readyWithinMs = 60_000;

/** A running HTTP server. */
export interface BenchProcess {
  origin: string;
  pid: number;
  /** Time from the start of the process to its first expected response, ms. */
  readyMs: number;
  stop(): Promise<void>;
}

/** How to start a process: a TypeScript file of the project, run by Node with `flags`. */
export interface Command {
  file: string;
  /** Path that returns `readyStatus` once the process is ready. */
  readyPath: string;
  /** Default: 200. */
  readyStatus?: number;
  environment(port: number): Record<string, string>;
  flags?: readonly string[];
  /** Default: a free one. */
  port?: number;
  /** The folder of the build that contains the file. Default: this one. */
  root?: string;
}

/**
 * Starts a process on a loopback port and waits until it is ready. Rejects with its output if it exits.
 */
export async function start({
  file,
  readyPath,
  readyStatus = 200,
  environment,
  flags = [],
  port: chosenPort,
  root: folder = root,
}: Command): Promise<BenchProcess> {
  const port = chosenPort ?? (await freePort());
  const origin = `http://127.0.0.1:${port}`;
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  const guard = ['--require', join(root, 'scripts', 'end-with-parent.cjs')];
  const startedAt = performance.now();
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', ...guard, ...flags, join(folder, file)],
    {
      cwd: folder,
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
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (part: Buffer) => {
      output = (output + part).slice(-10_000);
    });
  const readyMs = await waitUntilReady(
    child,
    () => getStatus(origin, readyPath),
    readyStatus,
    startedAt,
  ).catch(async (error: unknown) => {
    await stop(child);
    throw new Error(`${file} did not become ready:\n${output}`, { cause: error });
  });
  return { origin, pid: child.pid ?? 0, readyMs, stop: () => stop(child) };
}

async function waitUntilReady(
  child: ChildProcess,
  getStatus: () => Promise<number>,
  right: number,
  startedAt: number,
): Promise<number> {
  while (child.exitCode === null && child.signalCode === null) {
    const status = await getStatus().catch((error: unknown) => error);
    const afterMs = performance.now() - startedAt;
    if (status === right) return afterMs;
    if (afterMs > readyWithinMs)
      throw new Error(`After ${readyWithinMs} ms, the status is not ${right} but: ${status}`);
    await pause(4);
  }
  throw new Error('The process exited');
}

const getStatus = async (origin: string, path: string) =>
  (await httpClient(origin).request('GET', path)).status;

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  const force = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await exit;
  clearTimeout(force);
}

/** Returns a loopback port that is currently free. */
export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}
