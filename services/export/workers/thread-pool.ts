/** Threads of this process: each with its memory, and another one in place of one that is ended. */
import { Piscina } from 'piscina';
import { type Equipment, MemoryUsedUp, type WorkerPool } from './task-runner.ts';

/** Has the threads in this process; `onError` is told of one that ends without work in hand. */
export function here(
  { threads, idleMs, given, memoryMb }: Equipment,
  onError: (error: unknown) => void,
): WorkerPool {
  const pool = new Piscina({
    filename: new URL('./worker.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: threads,
    idleTimeout: idleMs,
    workerData: given,
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
  });
  // without a listener the process would end
  pool.on('error', onError);
  return {
    async run(name, task, signal) {
      try {
        return await pool.run(task, { name, signal });
      } catch (error) {
        throw isOutOfMemory(error) ? new MemoryUsedUp() : error;
      }
    },
    close: () => pool.destroy(),
  };
}

function isOutOfMemory(error: unknown): boolean {
  return (error as { code?: unknown } | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY';
}
