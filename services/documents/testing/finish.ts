/** Runs work in slices at once, for tests of its result and of its pauses. */
import type { SlicedWork } from '#libs/workers';

/** Returns the result of the work. */
export function finish<Result>(work: SlicedWork<Result>): Result {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/** Returns how often the work yields. */
export function countYields(work: SlicedWork<unknown>): number {
  let yields = 0;
  while (!work.next().done) yields += 1;
  return yields;
}
