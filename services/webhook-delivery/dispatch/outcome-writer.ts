/** Writes delivery outcomes in batches, which share a disk sync; retries while MongoDB is unavailable. */
import { setTimeout as pause } from 'node:timers/promises';
import { isUnavailable } from '#libs/store';
import type { AttemptResult, ClaimedRow, Outcome, Queue } from '../store/queue.ts';

/** Every batch collects outcomes for this long. */
const collectMs = 4;
/** A batch with fewer outcomes than this waits longer for more. */
const batchSize = 4;
const extraWaitMs = 16;
const retryMs = 250;

/** Records the outcomes of deliveries. */
export interface OutcomeWriter {
  /** Resolves when the outcome is written or given up. If it is given up, the sweep unlocks the row later. */
  record(row: ClaimedRow, result: AttemptResult): Promise<void>;
  /** Writes pending outcomes now. From then on, failed writes are not retried. */
  flush(): void;
  /** Resolves when no outcome is pending. */
  idle(): Promise<void>;
}

/** Outcomes that are written together. */
interface Batch {
  outcomes: Outcome[];
  /** Ends the extra wait for more outcomes. */
  flush(): void;
  written: Promise<void>;
}

/** Creates an outcome writer. It retries a batch for up to `retryForMs` while MongoDB is unavailable. */
export function createOutcomeWriter({
  queue,
  retryForMs,
  onError,
}: {
  queue: Pick<Queue, 'finish'>;
  retryForMs: number;
  onError(message: string, error: unknown): void;
}): OutcomeWriter {
  let next: Batch | undefined;
  let last = Promise.resolve();
  let isFlushing = false;

  return {
    record(row, result) {
      next ??= startBatch();
      next.outcomes.push({ row, result });
      if (next.outcomes.length >= batchSize) next.flush();
      return next.written;
    },
    flush() {
      isFlushing = true;
      next?.flush();
    },
    idle: () => last,
  };

  /** Starts a batch. It collects outcomes for a few ms and at least until the previous batch is written. */
  function startBatch(): Batch {
    const outcomes: Outcome[] = [];
    const { promise: flushed, resolve: flush } = Promise.withResolvers<void>();
    const collected = pause(collectMs).then(() => Promise.race([flushed, pause(extraWaitMs)]));
    last = Promise.all([last, collected]).then(() => {
      next = undefined;
      return write(outcomes);
    });
    return { outcomes, flush, written: last };
  }

  async function write(batch: readonly Outcome[]): Promise<void> {
    const deadline = performance.now() + retryForMs;
    for (;;) {
      try {
        return await queue.finish(batch);
      } catch (error) {
        const shouldRetry = isUnavailable(error) && !isFlushing && performance.now() < deadline;
        if (!shouldRetry)
          return onError(`Could not record the outcomes of ${batch.length} deliveries`, error);
      }
      await pause(retryMs);
    }
  }
}
