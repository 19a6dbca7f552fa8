/** The program of a worker, which runs as a child process or, under Deno, as a thread. */
import { readdirSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import process from 'node:process';
import { parentPort } from 'node:worker_threads';
import { Secret } from '#libs/contract';
import { createTasks, type Tasks } from './tasks.ts';
import type { TaskReply, TaskRequest } from './worker.ts';

/**
 * The priority of this process as a nice value. It is low enough to protect the p99 of readers, and high
 * enough that a file is done within seconds when other programs need all cores (ADR 26).
 */
const lowPriority = 10;
let tasks: Tasks | undefined;

if (parentPort) parentPort.on('message', runTask);
else startProcess();

async function runTask({ mongodb, name, input }: TaskRequest): Promise<void> {
  try {
    tasks ??= createTasks(new Secret(mongodb));
    // the caller's types match the input to the name
    const task = tasks[name] as (input: unknown) => Promise<unknown>;
    reply({ result: await task(input) });
  } catch (error) {
    reply({ error });
  }
}

function reply(message: TaskReply): void {
  if (parentPort) parentPort.postMessage(message);
  else process.send?.(message);
}

function startProcess(): void {
  process.title = 'pds-export-worker';
  // only the parent process ends this one: a signal to a whole terminal must not interrupt a task
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  process.once('disconnect', () => process.exit());
  process.on('message', runTask);
  lowerPriority();
}

/**
 * Lowers the priority after the imports, because the first file waits for them. On Linux each thread has its own
 * priority and new threads inherit it. A process that was started with a lower priority keeps it, because
 * raising it needs a privilege.
 */
function lowerPriority(): void {
  const priority = Math.max(getPriority(), lowPriority);
  const ids = process.platform === 'linux' ? readdirSync('/proc/self/task').map(Number) : [process.pid];
  for (const id of ids) {
    try {
      setPriority(id, priority);
    } catch (error) {
      const hasThreadExited = (error as { info?: { code?: unknown } }).info?.code === 'ESRCH';
      if (!hasThreadExited) throw error;
    }
  }
}
