/** Recording: outcomes are written down in small batches, so that they share a sync of the disk, and again while there is no database. */
import { setTimeout as pause } from 'node:timers/promises';
import { isUnavailable } from '#libs/store';
import type { Claimed, Finished, Queue, Result } from './store/queue.ts';

const gatherMs = 4;
const againMs = 250;

/** Writes outcomes down. */
export interface Recorder {
  /** Resolves when the outcome is written, or given up: then the sweep frees the row. */
  record(row: Claimed, result: Result): Promise<void>;
  /** From now on what cannot be written is not tried again. */
  hurry(): void;
  /** Resolves when nothing is left. */
  rest(): Promise<void>;
}

/** A recorder. `keepMs`: for how long outcomes are tried to be written while there is no database. */
export function recording(of: {
  queue: Pick<Queue, 'finish'>;
  keepMs: number;
  trouble(what: string, error: unknown): void;
}): Recorder {
  const { queue, keepMs, trouble } = of;
  let next: { batch: Finished[]; written: Promise<void> } | undefined;
  let last = Promise.resolve();
  let hurries = false;

  return {
    record(row, result) {
      next ??= begun();
      next.batch.push({ row, result });
      return next.written;
    },
    hurry() {
      hurries = true;
    },
    rest: () => last,
  };

  /** A batch that gathers for a moment, and for as long as the one before it is written. */
  function begun() {
    const batch: Finished[] = [];
    const before = last;
    last = Promise.all([before, pause(gatherMs)]).then(() => {
      next = undefined;
      return write(batch);
    });
    return { batch, written: last };
  }

  async function write(batch: readonly Finished[]): Promise<void> {
    const limit = performance.now() + keepMs;
    for (;;) {
      try {
        return await queue.finish(batch);
      } catch (error) {
        const isToKeep = isUnavailable(error) && !hurries && performance.now() < limit;
        if (!isToKeep) return trouble(`Outcomes of ${batch.length} deliveries could not be recorded`, error);
      }
      await pause(againMs);
    }
  }
}
