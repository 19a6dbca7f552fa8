/** Detects sustained overload: more requests than a process can handle, for longer than a burst lasts. */
import { performance } from 'node:perf_hooks';

/** Overload is sustained if rejections follow each other for so long, with pauses shorter than that. */
const sustainedAfterMs = 100;

/** The active connections are those that sent a request in this second, or in the one before if those were more. */
const activeMs = 1_000;

/** What is recorded to detect sustained overload. */
export interface SustainedOverload {
  /** Records that a connection sent a request. */
  recordRequest(connection: object): void;
  recordRejection(): void;
  /** Returns whether requests have been rejected for a while, and more than `minConnections` are active. */
  isSustained(): boolean;
}

/**
 * Creates the detection. `minConnections` is the number of requests that a saturated process accepts: fewer connections
 * fit in, so a burst of theirs is soon over, even if their clients do not wait after a `503`.
 */
export function createSustainedOverload(minConnections: number): SustainedOverload {
  let firstRejectedAt = Number.NEGATIVE_INFINITY;
  let lastRejectedAt = Number.NEGATIVE_INFINITY;
  // the second in which each connection was last active; does not keep closed connections in memory
  const seconds = new WeakMap<object, number>();
  let second = 0;
  let activeBefore = 0;
  let active = 0;
  return {
    recordRequest(connection) {
      const now = Math.floor(performance.now() / activeMs);
      if (now !== second) {
        activeBefore = now === second + 1 ? active : 0;
        active = 0;
        second = now;
      }
      if (seconds.get(connection) === now) return;
      seconds.set(connection, now);
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
      Math.max(active, activeBefore) > minConnections,
  };
}
