/** Detects sustained overload: more requests than a process can handle, for longer than a burst lasts. */
import { performance } from 'node:perf_hooks';

/** Overload is sustained if requests have been rejected for this long, without a pause of this length. */
const sustainedAfterMs = 100;

/** Active connections are counted in periods of this length. The larger number of the last two periods holds. */
const activeMs = 1_000;

/** What is recorded to detect sustained overload. */
export interface SustainedOverload {
  /** Records that a connection sent a request. */
  recordRequest(connection: object): void;
  recordRejection(): void;
  /** Returns whether requests have been rejected for a while, and more than `maxAccepted` connections are active. */
  isSustained(): boolean;
}

/**
 * Creates the detection. `maxAccepted` is the number of requests that a saturated process accepts at the same time.
 * With so many connections or fewer, overload does not last: each connection has one request in progress, also if its
 * client does not wait after a `503`.
 */
export function createSustainedOverload(maxAccepted: number): SustainedOverload {
  let firstRejectedAt = Number.NEGATIVE_INFINITY;
  let lastRejectedAt = Number.NEGATIVE_INFINITY;
  // the period in which each connection was last active; does not keep closed connections in memory
  const lastPeriods = new WeakMap<object, number>();
  let period = 0;
  let activeBefore = 0;
  let active = 0;
  return {
    recordRequest(connection) {
      const now = Math.floor(performance.now() / activeMs);
      if (now !== period) {
        activeBefore = now === period + 1 ? active : 0;
        active = 0;
        period = now;
      }
      if (lastPeriods.get(connection) === now) return;
      lastPeriods.set(connection, now);
      active += 1;
    },
    recordRejection() {
      const now = performance.now();
      if (now - lastRejectedAt > sustainedAfterMs) firstRejectedAt = now;
      lastRejectedAt = now;
    },
    isSustained: () =>
      lastRejectedAt - firstRejectedAt >= sustainedAfterMs &&
      performance.now() - lastRejectedAt < sustainedAfterMs &&
      Math.max(active, activeBefore) > maxAccepted,
  };
}
