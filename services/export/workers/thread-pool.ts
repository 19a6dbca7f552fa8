/** Runs tasks in worker threads of this process. */
import { Piscina } from 'piscina';
import { type PoolOptions, type TaskRunner, WorkerOutOfMemory } from './task-runner.ts';

/**
 * Creates a pool of worker threads. The pool replaces a worker that was terminated. `onError` receives the
 * error of a worker that exits without a task.
 */
export function createThreadPool(
  { workers, idleMs, workerData, memoryMb }: PoolOptions,
  onError: (error: unknown) => void,
): TaskRunner {
  const pool = new Piscina({
    filename: new URL('./worker.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: workers,
    idleTimeout: idleMs,
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
  });
  // without a listener, an error event would end the process
  pool.on('error', onError);
  return {
    async run(name, task, signal) {
      try {
        return await pool.run(task, { name, signal });
      } catch (error) {
        throw isOutOfMemory(error) ? new WorkerOutOfMemory(memoryMb) : error;
      }
    },
    close: () => pool.destroy(),
  };
}

function isOutOfMemory(error: unknown): boolean {
  return (error as { code?: unknown } | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY';
}
