/**
 * The threads that compile templates and render files, so that nobody else has to wait meanwhile: each with its memory,
 * each turn with its time, and only so many waiting. Who waits has not read anything yet, and takes no memory.
 */
import process from 'node:process';
import { type Secret, Unavailable } from '#libs/contract';
import { bulkhead } from '#libs/service';
import { apart } from './apart.ts';
import { MemoryUsedUp, WorkerCrashed } from './crew.ts';
import { here } from './here.ts';

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
  /** How long threads stay without work, a minute unless said. */
  idleMs?: number;
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

const standardIdleMs = 60_000;

/** Who is told of threads, or their process, that end by themselves, and of work that did not come to its end. */
export interface Listening {
  onError(error: unknown): void;
  refused(reason: 'queue_full' | 'timeout' | 'crashed'): void;
}

/**
 * Makes a pool; its threads begin when there is work for them, and read from `mongodb`. They have a process of their own, but
 * under Deno, where our services may not start any.
 */
export function threads(
  { threads, waiting, seconds, memoryMb, idleMs = standardIdleMs }: Limits,
  mongodb: Secret,
  { onError, refused }: Listening,
): Threads {
  const crewOf = process.versions.deno ? here : apart;
  const crew = crewOf({ threads, memoryMb, idleMs, given: { uri: mongodb.reveal() } }, onError);
  const full = () => {
    refused('queue_full');
    return tooMany();
  };
  const inTurn = bulkhead({ maxConcurrent: threads, maxQueue: waiting, createError: full });
  let [present, running] = [0, 0];
  return {
    async turn(work) {
      const signal = AbortSignal.timeout(seconds * 1000);
      present += 1;
      try {
        return await inTurn(() => begun(() => work(runUntil(signal))), signal);
      } catch (error) {
        if (!signal.aborted) throw error;
        refused('timeout');
        throw tookTooLong(seconds);
      } finally {
        present -= 1;
      }
    },
    waiting: () => present - running,
    running: () => running,
    close: () => crew.close(),
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
    return (name, task) => {
      const result = crew.run(name, task, signal).catch(explained);
      // it is what the function of this name gave
      return result as Promise<Awaited<ReturnType<Work[typeof name]>>>;
    };
  }

  function explained(error: unknown): never {
    if (error instanceof MemoryUsedUp) throw new TooMuchMemory(memoryMb);
    if (!(error instanceof WorkerCrashed)) throw error;
    onError(error);
    refused('crashed');
    throw interrupted();
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

function interrupted(): Error {
  return Unavailable('Making the file was interrupted: try again.', { headers: { 'Retry-After': '5' } });
}
