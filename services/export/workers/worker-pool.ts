/**
 * The worker pool: compiles templates and renders files outside the main thread, with limits on workers,
 * queue, time and memory. A queued request has not read any data yet, so the queue takes little memory.
 */
import process from 'node:process';
import { type Secret, Unavailable } from '#libs/contract';
import { bulkhead } from '#libs/service';
import { createChildProcessPool } from './child-process-pool.ts';
import { WorkerCrashed } from './task-runner.ts';
import { createThreadPool } from './thread-pool.ts';

export { WorkerOutOfMemory } from './task-runner.ts';

/** The tasks of a worker by name. */
type Tasks = typeof import('./worker.ts');

/** Limits of the worker pool. */
export interface WorkerLimits {
  workers: number;
  /** Maximum number of queued uses. */
  maxQueue: number;
  /** Time limit of a use, including its time in the queue. */
  timeoutSeconds: number;
  /** JavaScript heap limit of each worker. */
  memoryMb: number;
  /** Idle time after which workers exit; the default is one minute. */
  idleMs?: number;
}

/** Runs the task `name` in a worker. Errors: `WorkerOutOfMemory`; errors of the task itself. */
export type RunTask = <Name extends keyof Tasks>(
  name: Name,
  task?: Parameters<Tasks[Name]>[0],
) => Promise<Awaited<ReturnType<Tasks[Name]>>>;

/** A bounded pool of workers. */
export interface WorkerPool {
  /**
   * Waits for a free worker, then calls `work`, which reads its data and runs tasks. Errors: `Unavailable`
   * when the queue is full, the time limit is reached or the worker process crashes; errors of `work` itself.
   */
  use<R>(work: (run: RunTask) => Promise<R>): Promise<R>;
  /** Number of uses in the queue. */
  queued(): number;
  /** Number of uses that have a worker. */
  running(): number;
  /** Terminates all workers at once, including busy ones. */
  close(): Promise<void>;
}

const defaultIdleMs = 60_000;

/** Callbacks for errors of workers without a task, and for uses that the pool rejects. */
export interface PoolEvents {
  onError(error: unknown): void;
  onRejected(reason: 'queue_full' | 'timeout' | 'crashed'): void;
}

/**
 * Creates a pool whose workers start on demand and read from `mongodb`. The workers run in a child process;
 * under Deno, where the services may not start processes, they run in this process.
 */
export function createWorkerPool(
  { workers, maxQueue, timeoutSeconds, memoryMb, idleMs = defaultIdleMs }: WorkerLimits,
  mongodb: Secret,
  { onError, onRejected }: PoolEvents,
): WorkerPool {
  const createRunner = process.versions.deno ? createThreadPool : createChildProcessPool;
  const runner = createRunner({ workers, memoryMb, idleMs, workerData: { uri: mongodb.reveal() } }, onError);
  const full = () => {
    onRejected('queue_full');
    return queueFullError();
  };
  const withSlot = bulkhead({ maxConcurrent: workers, maxQueue, createError: full });
  let [present, running] = [0, 0];
  return {
    async use(work) {
      const signal = AbortSignal.timeout(timeoutSeconds * 1000);
      present += 1;
      try {
        return await withSlot(() => countRunning(() => work(runUntil(signal))), signal);
      } catch (error) {
        if (!signal.aborted) throw error;
        onRejected('timeout');
        throw timeoutError(timeoutSeconds);
      } finally {
        present -= 1;
      }
    },
    queued: () => present - running,
    running: () => running,
    close: () => runner.close(),
  };

  async function countRunning<R>(work: () => Promise<R>): Promise<R> {
    running += 1;
    try {
      return await work();
    } finally {
      running -= 1;
    }
  }

  function runUntil(signal: AbortSignal): RunTask {
    return (name, task) => {
      const result = runner.run(name, task, signal).catch(rejectIfCrashed);
      // the worker returned the result of the function `name`
      return result as Promise<Awaited<ReturnType<Tasks[typeof name]>>>;
    };
  }

  function rejectIfCrashed(error: unknown): never {
    if (!(error instanceof WorkerCrashed)) throw error;
    onError(error);
    onRejected('crashed');
    throw crashedError();
  }
}

function queueFullError(): Error {
  return Unavailable('Too many files are being processed. Try again later.', {
    headers: { 'Retry-After': '5' },
  });
}

function timeoutError(seconds: number): Error {
  return Unavailable(`The file was not processed within ${seconds} s. Try again later.`, {
    headers: { 'Retry-After': '30' },
  });
}

function crashedError(): Error {
  return Unavailable('Processing the file was interrupted. Try again.', { headers: { 'Retry-After': '5' } });
}
