/**
 * The threads that compile templates and render files, so that nobody else has to wait meanwhile: each with its memory,
 * each turn with its time, and only so many waiting. Who waits has not read anything yet, and takes no memory.
 */
import { Piscina } from 'piscina';
import { type Secret, Unavailable } from '#libs/contract';
import { bulkhead } from '#libs/service';
import type { Given } from './thread.ts';

/** What is done in a thread, by its name. */
type Work = typeof import('./thread.ts');

/** What the threads may take. */
export interface Limits {
  threads: number;
  /** How many may wait for a turn. */
  waiting: number;
  /** How long a turn may take, with its waiting. */
  seconds: number;
  /** JavaScript memory of a thread. */
  memoryMb: number;
}

/** A piece of work needed more memory than a thread may take. */
export class TooMuchMemory extends Error {
  readonly memoryMb: number;

  constructor(memoryMb: number) {
    super(`A thread of ${memoryMb} MB had too little memory`);
    this.name = 'TooMuchMemory';
    this.memoryMb = memoryMb;
  }
}

/**
 * Has a piece of work done in a thread. Errors: `TooMuchMemory`; whatever the work throws.
 */
export type Run = <Name extends keyof Work>(
  name: Name,
  task?: Parameters<Work[Name]>[0],
) => Promise<Awaited<ReturnType<Work[Name]>>>;

/** Threads. */
export interface Threads {
  /**
   * Waits for a turn, in which what is needed is read and worked on. Errors: `Unavailable` when too many wait or it takes
   * too long; whatever the work throws.
   */
  turn<R>(work: (run: Run) => Promise<R>): Promise<R>;
  /** How many wait for their turn, and how many have it. */
  waiting(): number;
  running(): number;
  /** Ends all threads at once, whatever they do. */
  close(): Promise<void>;
}

/** A thread without work ends after so long. */
const idleMs = 60_000;

/** Who is told of threads that end without work in hand, and of work that did not come to its end. */
export interface Listening {
  trouble(error: unknown): void;
  refused(reason: 'queue_full' | 'too_slow'): void;
}

/** Makes a pool; its threads begin when there is work for them, and read from `mongodb`. */
export function threads(
  { threads, waiting, seconds, memoryMb }: Limits,
  mongodb: Secret,
  { trouble, refused }: Listening,
): Threads {
  const pool = new Piscina({
    filename: new URL('./thread.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: threads,
    idleTimeout: idleMs,
    workerData: { uri: mongodb.reveal() } satisfies Given,
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
  });
  // without a listener the process would end
  pool.on('error', trouble);
  const full = () => {
    refused('queue_full');
    return tooMany();
  };
  const inTurn = bulkhead({ atOnce: threads, waiting, full });
  let [present, running] = [0, 0];
  return {
    async turn(work) {
      const signal = AbortSignal.timeout(seconds * 1000);
      present += 1;
      try {
        return await inTurn(() => begun(() => work(runUntil(signal))), signal);
      } catch (error) {
        if (!signal.aborted) throw error;
        refused('too_slow');
        throw tookTooLong(seconds);
      } finally {
        present -= 1;
      }
    },
    waiting: () => present - running,
    running: () => running,
    close: () => pool.destroy(),
  };

  async function begun<R>(work: () => Promise<R>): Promise<R> {
    running += 1;
    try {
      return await work();
    } finally {
      running -= 1;
    }
  }

  function runUntil(signal: AbortSignal): Run {
    return async (name, task) => {
      try {
        return await pool.run(task, { name, signal });
      } catch (error) {
        throw isOutOfMemory(error) ? new TooMuchMemory(memoryMb) : error;
      }
    };
  }
}

function tooMany(): Error {
  return Unavailable('Too many files are being made at this moment: try again.', {
    headers: { 'Retry-After': '5' },
  });
}

function tookTooLong(seconds: number): Error {
  return Unavailable(`The file was not ready within ${seconds} s: try again.`, {
    headers: { 'Retry-After': '30' },
  });
}

function isOutOfMemory(error: unknown): boolean {
  return (error as { code?: unknown } | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY';
}
