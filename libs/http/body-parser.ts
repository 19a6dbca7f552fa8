/** Parses JSON bodies: small ones in this process, large ones one after the other in a worker. */
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

/** Larger bodies are parsed in a worker. A body of exactly this size blocks the process for some milliseconds. */
const maxInlineBytes = 256 * 1024;

/** Such bodies take below 1 ms. Larger ones wait for a time slice, so that many of them cannot block the process. */
const maxUnslicedBytes = 4 * 1024;

/** The largest heap of the worker, MiB, however much memory the machine has. */
const maxWorkerHeapMb = 256;

/** One worker, which ends after ten seconds without work. A body of 28 MiB, mostly sentences, needs 96 MiB of heap. */
const limits: WorkerLimits = {
  workers: 1,
  maxQueue: 64,
  maxQueuePerClient: 16,
  timeoutSeconds: 60,
  memoryMb: getWorkerHeapMb(),
  idleMs: 10_000,
};

/** Parses JSON bodies. */
export interface BodyParser {
  /**
   * Parses the body of an operation. Clients take turns if several wait for the worker. Rejects with
   * `PayloadTooLarge` if the body needs too much memory, and with `Unavailable` if it takes too long or too many wait.
   */
  parse(operation: string, shape: z.ZodType, bytes: Uint8Array, client: string): Promise<JsonBody>;
  /** Ends the worker. */
  close(): Promise<void>;
}

/** Creates a parser. `worker` is the program of the worker; without it, all bodies are parsed in this process. */
export function createBodyParser(
  worker?: URL,
  events: PoolEvents = { onError: () => undefined, onRejected: () => undefined },
): BodyParser {
  const program = worker && { file: worker, context: null, subject: 'large body' };
  const pool = program && createWorkerPool<BodyTasks>(program, limits, events);
  const slices = startTimeSlices();
  let last = Promise.resolve();
  /** Waits for its turn after the bodies before this one, and for the next slice if the current one is over. */
  const waitInLine = () => {
    last = last.then(() => (slices.isOver() ? slices.next() : undefined));
    return last;
  };
  return {
    async parse(operation, shape, bytes, client) {
      if (!pool || bytes.length <= maxInlineBytes) {
        if (bytes.length > maxUnslicedBytes) await waitInLine();
        return parseJsonBody(shape, bytes);
      }
      try {
        return (await pool.run('parse', { operation, bytes }, client)).result;
      } catch (error) {
        if (error instanceof WorkerOutOfMemory) throw PayloadTooLarge('The body needs too much memory.');
        throw error;
      }
    },
    close: async () => pool?.close(),
  };
}

/**
 * Returns the limit of the worker's heap, MiB: a fifth of the container's memory, at most 256. A body that needs more
 * gets a 413. Without the limit, Linux could end the worker, or even the service.
 */
function getWorkerHeapMb(): number {
  // Deno does not know the container's memory, and requires a permission to ask for it
  if (process.versions.deno) return maxWorkerHeapMb;
  // 0 means that the container's memory is unknown
  const containerBytes = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  return Math.min(maxWorkerHeapMb, Math.floor(containerBytes / 2 ** 20 / 5));
}
