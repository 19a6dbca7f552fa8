/** Runs work in slices at once, for tests of its result. */
import type { SlicedWork } from '#libs/workers';

/** Returns the result of the work. */
export function finish<Result>(work: SlicedWork<Result>): Result {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}
