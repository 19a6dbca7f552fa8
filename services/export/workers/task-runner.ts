/** The crew: who does the work of the pool, in threads of this process or of another. */
import type { Given } from './worker.ts';

/** What threads are like. */
export interface Equipment {
  /** How many there are at most. */
  readonly threads: number;
  /** JavaScript memory of each. */
  readonly memoryMb: number;
  /** What has no work ends after so long. */
  readonly idleMs: number;
  readonly given: Given;
}

/** Those who do the work. */
export interface WorkerPool {
  /**
   * Has the work of a name done until `signal` ends it. Errors: `MemoryUsedUp`, `CrewLost`; whatever the work throws,
   * though not of its class.
   */
  run(name: string, task: unknown, signal: AbortSignal): Promise<unknown>;
  /** Ends all threads at once, whatever they do. */
  close(): Promise<void>;
}

/** A thread was ended because it wanted more memory than it may take. */
export class MemoryUsedUp extends Error {
  override name = 'MemoryUsedUp';
}

/** The process of the threads ended while it had work in hand. */
export class WorkerCrashed extends Error {
  override name = 'CrewLost';
}
