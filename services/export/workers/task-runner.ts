/** The common interface of the thread pool and the child process pool, their options and errors. */
import type { WorkerData } from './worker.ts';

/** Limits of a pool, and the data for its workers. */
export interface PoolOptions {
  /** Maximum number of workers. */
  readonly workers: number;
  /** JavaScript heap limit of each worker, MB. */
  readonly memoryMb: number;
  /** Idle time after which a worker exits, milliseconds. */
  readonly idleMs: number;
  readonly workerData: WorkerData;
}

/** Runs named tasks in worker threads. */
export interface TaskRunner {
  /**
   * Runs the function `name` of worker.ts with `task` until `signal` aborts. Errors: `WorkerOutOfMemory`,
   * `WorkerCrashed`; an error of the task itself arrives without its class.
   */
  run(name: string, task: unknown, signal: AbortSignal): Promise<unknown>;
  /** Terminates all workers at once, including busy ones. */
  close(): Promise<void>;
}

/** A worker was terminated because its task needed more than `memoryMb` MB of JavaScript heap. */
export class WorkerOutOfMemory extends Error {
  override name = 'WorkerOutOfMemory';
  readonly memoryMb: number;

  constructor(memoryMb: number) {
    super(`The worker ran out of memory (limit: ${memoryMb} MB)`);
    this.memoryMb = memoryMb;
  }
}

/** The process of the workers exited while it had tasks. */
export class WorkerCrashed extends Error {
  override name = 'WorkerCrashed';
}
