/** Writes delivery outcomes in batches, which share a disk sync; retries while MongoDB is unavailable. */
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { isUnavailable } from '#libs/store';
import type { AttemptResult, ClaimedRow, Outcome, Queue } from '../store/queue.ts';

const retryMs = 250;

/** Records the outcomes of deliveries. */
export interface OutcomeWriter {
  /** Resolves when the outcome is written or given up. If it is given up, the sweep unlocks the row later. */
  record(row: ClaimedRow, result: AttemptResult): Promise<void>;
  /** From now on, failed writes are not retried. */
  stopRetrying(): void;
  /** Resolves when no outcome is pending. */
  idle(): Promise<void>;
}

/** Outcomes that are written together. */
interface Batch {
  readonly outcomes: Outcome[];
  readonly written: Promise<void>;
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
  let mayRetry = true;

  return {
    record(row, result) {
      next ??= startBatch();
      next.outcomes.push({ row, result });
      return next.written;
    },
    stopRetrying() {
      mayRetry = false;
    },
    idle: () => last,
  };

  /** Starts a batch. It collects the outcomes of one turn of the event loop and of the previous write. */
  function startBatch(): Batch {
    const outcomes: Outcome[] = [];
    last = Promise.all([last, nextTurn()]).then(() => {
      next = undefined;
      return write(outcomes);
    });
    return { outcomes, written: last };
  }

  async function write(batch: readonly Outcome[]): Promise<void> {
    const deadline = performance.now() + retryForMs;
    for (;;) {
      try {
        return await queue.finish(batch);
      } catch (error) {
        const shouldRetry = isUnavailable(error) && mayRetry && performance.now() < deadline;
        if (!shouldRetry)
          return onError(`Could not record the outcomes of ${batch.length} deliveries`, error);
      }
      await pause(retryMs);
    }
  }
}
