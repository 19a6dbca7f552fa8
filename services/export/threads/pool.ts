/**
 * The threads that compile templates and render files, so that nobody else has to wait meanwhile: each with its memory,
 * each piece of work with its time, and only so many waiting.
 */
import { Piscina } from 'piscina';
import { Unavailable } from '#libs/contract';

/** What is done in a thread, by its name. */
type Work = typeof import('./thread.ts');

/** What the threads may take. */
export interface Limits {
  threads: number;
  /** How many pieces of work may wait for a thread. */
  waiting: number;
  /** How long a piece of work may take, with its waiting. */
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

/** Threads. */
export interface Threads {
  /**
   * Has a piece of work done in a thread. What is in `moved` goes over to the thread and is empty afterwards. Errors:
   * `Unavailable` when too many wait or it takes too long; `TooMuchMemory`; whatever the work throws.
   */
  run<Name extends keyof Work>(
    name: Name,
    task?: Parameters<Work[Name]>[0],
    moved?: readonly ArrayBuffer[],
  ): Promise<Awaited<ReturnType<Work[Name]>>>;
  /** Ends all threads at once, whatever they do. */
  close(): Promise<void>;
}

/** A thread without work ends after so long. */
const idleMs = 60_000;

/** Makes a pool; its threads begin when there is work for them. `trouble` is told of threads that end without work in hand. */
export function threads(
  { threads, waiting, seconds, memoryMb }: Limits,
  trouble: (error: unknown) => void,
): Threads {
  const pool = new Piscina({
    filename: new URL('./thread.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: threads,
    idleTimeout: idleMs,
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
  });
  // without a listener the process would end
  pool.on('error', trouble);
  return {
    async run(name, task, moved = []) {
      if (pool.queueSize >= waiting)
        throw Unavailable('Too many files are being made at this moment: try again.', {
          headers: { 'Retry-After': '5' },
        });
      const signal = AbortSignal.timeout(seconds * 1000);
      try {
        // the library takes an array and nothing else; its type is that of another overload of postMessage
        return await pool.run(task, { name, signal, transferList: [...moved] as never });
      } catch (error) {
        if (signal.aborted)
          throw Unavailable(`The file was not ready within ${seconds} s: try again.`, {
            headers: { 'Retry-After': '30' },
          });
        if (isOutOfMemory(error)) throw new TooMuchMemory(memoryMb);
        throw error;
      }
    },
    close: () => pool.destroy(),
  };
}

function isOutOfMemory(error: unknown): boolean {
  return (error as { code?: unknown } | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY';
}
