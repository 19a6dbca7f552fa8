/**
 * Sustained overload: a process rejects requests for longer than a moment. Its limit of requests in progress then falls
 * to what keeps the event loop busy, because each further one would only wait.
 */
import { performance } from 'node:perf_hooks';
import { periodMs } from './event-loop-watch.ts';

/** Overload is sustained if rejections follow each other for so long. A burst of 600 requests ends before. */
const sustainedAfterMs = 100;

/** In each period with idle time, the limit grows by this factor. */
const growth = 1.25;

/** In each period without idle time, the limit shrinks by this factor. */
const shrinkage = 0.8;

/** Detects sustained overload, and adapts its limit. */
export interface SustainedOverload {
  /** The limit of requests in progress. `undefined` if there is no sustained overload. */
  getLimit(): number | undefined;
  /** Records a rejection by a saturated process. Returns whether sustained overload has just begun. */
  recordRejection(): boolean;
  /** Adapts the limit. Sustained overload ends when the limit exceeds `highest`. */
  recordPeriod(ms: number, hadIdleTime: boolean): void;
}

/** Creates the detection. The limit begins at `lowest`. */
export function createSustainedOverload(lowest: number, highest: number): SustainedOverload {
  let limit: number | undefined;
  let firstRejectedAt = Number.NEGATIVE_INFINITY;
  let lastRejectedAt = Number.NEGATIVE_INFINITY;
  return {
    getLimit: () => limit,
    recordRejection() {
      const now = performance.now();
      if (now - lastRejectedAt > sustainedAfterMs) firstRejectedAt = now;
      lastRejectedAt = now;
      if (limit !== undefined || now - firstRejectedAt < sustainedAfterMs) return false;
      limit = lowest;
      return true;
    },
    recordPeriod(ms, hadIdleTime) {
      if (limit === undefined) return;
      const adapted = hadIdleTime ? limit * growth ** (ms / periodMs) : limit * shrinkage;
      limit = adapted > highest ? undefined : Math.max(lowest, adapted);
    },
  };
}
