/** The program of a worker, which runs as a child process or, under Deno, as a thread. */
import { readdirSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import process from 'node:process';
import { parentPort } from 'node:worker_threads';
import type { TaskReply, TaskRequest } from './worker.ts';

/** A worker's program. */
export interface TaskServer {
  /** Title of the process. */
  title: string;
  /** The lowest priority of the process, as a nice value. The default is that of its parent. */
  priority?: number;
  /** Creates the tasks when the first request arrives. `context` is that of the pool. */
  // biome-ignore lint/suspicious/noExplicitAny: tasks have inputs of every type
  createTasks(context: any): Record<string, (input: any) => Promise<unknown>>;
}

/** Runs the tasks that the pool sends, one at a time. */
export function serveTasks({ title, priority, createTasks }: TaskServer): void {
  let tasks: ReturnType<typeof createTasks> | undefined;
  const runTask = async ({ context, name, input }: TaskRequest): Promise<void> => {
    try {
      tasks ??= createTasks(context);
      const task = tasks[String(name)];
      if (!task) throw new Error(`There is no task ${String(name)}`);
      reply({ result: await task(input) });
    } catch (error) {
      reply({ error });
    }
  };
  if (parentPort) parentPort.on('message', runTask);
  else {
    process.title = title;
    // only the parent process ends this one: a signal to a whole terminal must not interrupt a task
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
    process.once('disconnect', () => process.exit());
    process.on('message', runTask);
    if (priority !== undefined) lowerPriority(priority);
  }
}

function reply(message: TaskReply): void {
  if (parentPort) parentPort.postMessage(message);
  else process.send?.(message);
}

/**
 * Lowers the priority after the imports, because the first file waits for them. On Linux each thread has its own
 * priority and new threads inherit it. A process that was started with a lower priority keeps it, because
 * raising it needs a privilege.
 */
function lowerPriority(lowest: number): void {
  const priority = Math.max(getPriority(), lowest);
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
