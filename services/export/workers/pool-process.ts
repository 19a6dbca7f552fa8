/** The main program of the child process: passes tasks to a thread pool and exits with its parent process. */
import { readdirSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import process from 'node:process';
import type { PoolCommand, PoolReply } from './child-process-pool.ts';
import { type TaskRunner, WorkerOutOfMemory } from './task-runner.ts';
import { createThreadPool } from './thread-pool.ts';

const lowestPriority = constants.priority.PRIORITY_LOW;
const running = new Map<number, AbortController>();
let pool: TaskRunner | undefined;

lowerPriority();
process.title = 'pds-export-files';
// only the parent process ends this one: a signal to a whole terminal must not interrupt running tasks
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.once('disconnect', () => process.exit());
process.on('message', (command: PoolCommand) => {
  if ('start' in command) pool = createThreadPool(command.start, (workerError) => send({ workerError }));
  else if ('cancel' in command) running.get(command.cancel)?.abort();
  else if (pool) void runTask(pool, command);
});

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
 * Gives this process the lowest priority, so that requests are answered first when cores are scarce. On Linux
 * each thread has its own priority and new threads inherit it; on other systems the process has one.
 */
function lowerPriority(): void {
  const ids = process.platform === 'linux' ? readdirSync('/proc/self/task').map(Number) : [process.pid];
  for (const id of ids) setPriority(id, lowestPriority);
}
