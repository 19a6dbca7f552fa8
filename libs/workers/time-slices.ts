/** Splits long work of the service's own process into slices, so that other requests are served in between. */
import { setImmediate } from 'node:timers/promises';

/**
 * How long work may run before other requests are served, ms. A small request waits for about four slices: one each
 * until it is read, authenticated, answered by MongoDB and sent.
 */
const sliceMs = 2;

/** The slices of one piece of work. */
export interface TimeSlices {
  /** Returns true if the current slice has lasted 2 ms. Cheap enough to be called for every item. */
  isOver(): boolean;
  /** Lets other requests run and starts the next slice. */
  next(): Promise<void>;
}

/** Starts the first slice. Call `if (slices.isOver()) await slices.next()` after each item of the work. */
export function startTimeSlices(): TimeSlices {
  let endsAt = performance.now() + sliceMs;
  return {
    isOver: () => performance.now() >= endsAt,
    async next() {
      await setImmediate();
      endsAt = performance.now() + sliceMs;
    },
  };
}

/** Work that yields wherever other requests may run, e.g. after each item. Returns its result. */
export type SlicedWork<Result> = Generator<undefined, Result>;

/** Runs work in slices. Resolves with its result. */
export async function runInSlices<Result>(work: SlicedWork<Result>): Promise<Result> {
  const slices = startTimeSlices();
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
    if (slices.isOver()) await slices.next();
  }
}
