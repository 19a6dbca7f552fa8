/** Measures for how long the event loop of a thread has had no idle time. */
import { performance } from 'node:perf_hooks';

/** The idle time of the event loop is measured in periods of at least this length. */
export const periodMs = 20;

/** An event loop that was idle for a smaller share of a period counts as if it had no idle time in it. */
const minIdle = 0.05;

/**
 * Returns a function that returns for how long the event loop of this thread has had no idle time, milliseconds. A
 * period ends only when the function is called. Then `onPeriod` gets the length of the period, milliseconds.
 */
export function watchEventLoop(onPeriod: (ms: number, hadIdleTime: boolean) => void): () => number {
  let since = performance.now();
  let before = performance.eventLoopUtilization();
  let busyMs = 0;
  return () => {
    const now = performance.now();
    const ms = now - since;
    if (ms < periodMs) return busyMs;
    const hadIdleTime = performance.eventLoopUtilization(before).utilization <= 1 - minIdle;
    busyMs = hadIdleTime ? 0 : busyMs + ms;
    since = now;
    before = performance.eventLoopUtilization();
    onPeriod(ms, hadIdleTime);
    return busyMs;
  };
}
