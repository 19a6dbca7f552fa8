/** Splits long work of the service's own process into slices, so that other requests are served in between. */
import { setImmediate } from 'node:timers/promises';

/** How long work may run before other requests are served, ms. */
const sliceMs = 10;

/** The slices of one piece of work. */
export interface TimeSlices {
  /** Returns true if the current slice has lasted 10 ms. Cheap enough to be called for every item. */
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
