/** Parses JSON bodies: small ones at once, large ones one after the other in a worker. */
import process from 'node:process';
import type { z } from 'zod';
import { type BodyTasks, type JsonBody, PayloadTooLarge, parseJsonBody } from '#libs/contract';
import {
  createWorkerPool,
  type PoolEvents,
  startTimeSlices,
  type WorkerLimits,
  WorkerOutOfMemory,
} from '#libs/workers';

/** Larger bodies are parsed in a worker. One of this size blocks the process for at most some ten milliseconds. */
const maxInlineBytes = 256 * 1024;

/** Smaller bodies take a fraction of a millisecond. Larger ones share time slices: many cannot block the process. */
const maxUnslicedBytes = 4 * 1024;

/** One worker, which ends after ten seconds without work. Trees of 28 MiB of sentences need less than 96 MB of heap. */
const limits: WorkerLimits = {
  workers: 1,
  maxQueue: 64,
  timeoutSeconds: 60,
  memoryMb: getWorkerHeapMb(),
  idleMs: 10_000,
};

/** Parses JSON bodies. */
export interface BodyParser {
  /**
   * Parses the body of an operation. Rejects with `PayloadTooLarge` if it needs too much memory, and with
   * `Unavailable` if it takes too long.
   */
  parse(operation: string, shape: z.ZodType, bytes: Uint8Array): Promise<JsonBody>;
  /** Ends the worker. */
  close(): Promise<void>;
}

/** Creates a parser. `worker` is the program of the worker; without it, all bodies are parsed at once. */
export function createBodyParser(
  worker?: URL,
  events: PoolEvents = { onError: () => undefined, onRejected: () => undefined },
): BodyParser {
  const program = worker && { file: worker, context: null, subject: 'large body' };
  const pool = program && createWorkerPool<BodyTasks>(program, limits, events);
  const slices = startTimeSlices();
  let last = Promise.resolve();
  /** Waits for the bodies before this one, and for the next slice if the current one is over. */
  const waitInLine = () => {
    last = last.then(() => (slices.isOver() ? slices.next() : undefined));
    return last;
  };
  return {
    async parse(operation, shape, bytes) {
      if (bytes.length > maxUnslicedBytes) await waitInLine();
      if (!pool || bytes.length <= maxInlineBytes) return parseJsonBody(shape, bytes);
      try {
        return (await pool.run('parse', { operation, bytes })).result;
      } catch (error) {
        if (error instanceof WorkerOutOfMemory) throw PayloadTooLarge('The body needs too much memory.');
        throw error;
      }
    },
    close: async () => pool?.close(),
  };
}

/**
 * Returns 256, or a fifth of the container's memory: a body that needs too much gets a 413 before Linux has to end a
 * process, which is not always the worker.
 */
function getWorkerHeapMb(): number {
  // 0 if the system does not say it
  const containerBytes = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  return Math.min(256, Math.floor(containerBytes / 2 ** 20 / 5));
}
