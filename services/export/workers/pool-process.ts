/** The main program of the child process: passes tasks to a thread pool and exits with its parent process. */
import { readdirSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import process from 'node:process';
import type { PoolCommand, PoolReply } from './child-process-pool.ts';
import { type PoolOptions, type TaskRunner, WorkerOutOfMemory } from './task-runner.ts';
import { createThreadPool } from './thread-pool.ts';

/**
 * The priority of this process as a nice value. It is low enough to protect the p99 of readers, and high
 * enough that a file is done within seconds when other programs need all cores (ADR 26).
 */
const lowPriority = 10;
const running = new Map<number, AbortController>();
let pool: TaskRunner | undefined;

process.title = 'pds-export-files';
// only the parent process ends this one: a signal to a whole terminal must not interrupt running tasks
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.once('disconnect', () => process.exit());
process.on('message', (command: PoolCommand) => {
  if ('start' in command) start(command.start);
  else if ('cancel' in command) running.get(command.cancel)?.abort();
  else if (pool) void runTask(pool, command);
});

/**
 * Starts the pool and its first worker at normal priority, because the first file waits for it. Then lowers
 * the priority.
 */
function start(options: PoolOptions): void {
  const started = createThreadPool(options, (workerError) => send({ workerError }));
  pool = started;
  // if the worker cannot start, the first task fails with the same error
  void started
    .run('load', undefined, new AbortController().signal)
    .catch(() => undefined)
    .then(lowerPriority);
}

async function runTask(
  pool: TaskRunner,
  { id, name, task }: Extract<PoolCommand, { id: number }>,
): Promise<void> {
  const controller = new AbortController();
  running.set(id, controller);
  try {
    send({ id, result: await pool.run(name, task, controller.signal) });
  } catch (error) {
    if (!controller.signal.aborted) send({ id, error, isOutOfMemory: error instanceof WorkerOutOfMemory });
  } finally {
    running.delete(id);
  }
}

function send(reply: PoolReply): void {
  process.send?.(reply);
}

/**
 * Gives this process a low priority, so that requests are answered first when cores are scarce. On Linux
 * each thread has its own priority and new threads inherit it; on other systems the process has one. A process
 * that was started with a lower priority keeps it, because raising it needs a privilege.
 */
function lowerPriority(): void {
  const priority = Math.max(getPriority(), lowPriority);
  const ids = process.platform === 'linux' ? readdirSync('/proc/self/task').map(Number) : [process.pid];
  for (const id of ids) {
    try {
      setPriority(id, priority);
    } catch (error) {
      if (!isNoSuchThread(error)) throw error;
    }
  }
}

/** Returns whether the thread has exited meanwhile. */
function isNoSuchThread(error: unknown): boolean {
  return (error as { info?: { code?: unknown } } | undefined)?.info?.code === 'ESRCH';
}
