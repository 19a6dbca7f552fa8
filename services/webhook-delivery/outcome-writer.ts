/** Recording: outcomes are written down in small batches, so that they share a sync of the disk, and again while there is no database. */
import { setTimeout as pause } from 'node:timers/promises';
import { isUnavailable } from '#libs/store';
import type { Claimed, Finished, Queue, Result } from './store/queue.ts';

/** A batch gathers for so long, ms. */
const gatherMs = 4;
/** So few outcomes wait a little longer for others, ms. */
const few = 4;
const longerMs = 16;
const againMs = 250;

/** Writes outcomes down. */
export interface OutcomeWriter {
  /** Resolves when the outcome is written, or given up: then the sweep frees the row. */
  record(row: Claimed, result: Result): Promise<void>;
  /** From now on what cannot be written is not tried again. */
  flush(): void;
  /** Resolves when nothing is left. */
  idle(): Promise<void>;
}

/** Outcomes that are written together. */
interface Batch {
  outcomes: Finished[];
  /** It need not wait for more. */
  enough(): void;
  written: Promise<void>;
}

/** A recorder. `keepMs`: for how long outcomes are tried to be written while there is no database. */
export function createOutcomeWriter({
  queue,
  keepMs,
  onError,
}: {
  queue: Pick<Queue, 'finish'>;
  keepMs: number;
  onError(what: string, error: unknown): void;
}): OutcomeWriter {
  let next: Batch | undefined;
  let last = Promise.resolve();
  let hurries = false;

  return {
    record(row, result) {
      next ??= begun();
      next.outcomes.push({ row, result });
      if (next.outcomes.length >= few) next.enough();
      return next.written;
    },
    flush() {
      hurries = true;
      next?.enough();
    },
    idle: () => last,
  };

  /** A batch that gathers for a moment, and for as long as the one before it is written. */
  function begun(): Batch {
    const outcomes: Finished[] = [];
    const { promise: isEnough, resolve: enough } = Promise.withResolvers<void>();
    const gathered = pause(gatherMs).then(() => Promise.race([isEnough, pause(longerMs)]));
    last = Promise.all([last, gathered]).then(() => {
      next = undefined;
      return write(outcomes);
    });
    return { outcomes, enough, written: last };
  }

  async function write(batch: readonly Finished[]): Promise<void> {
    const limit = performance.now() + keepMs;
    for (;;) {
      try {
        return await queue.finish(batch);
      } catch (error) {
        const isToKeep = isUnavailable(error) && !hurries && performance.now() < limit;
        if (!isToKeep) return onError(`Outcomes of ${batch.length} deliveries could not be recorded`, error);
      }
      await pause(againMs);
    }
  }
}
