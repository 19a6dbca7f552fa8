/** Measures for how long the event loop of a thread has had no idle time. */
import { performance } from 'node:perf_hooks';

/** The idle time of the event loop is measured in periods of at least this length. */
export const periodMs = 20;

/** An event loop that was idle for a smaller share of a period counts as if it had no idle time in it. */
const minIdle = 0.05;

/**
 * Returns a function that returns for how long the event loop of this thread has had no idle time, milliseconds. A
 * period ends only at a call: call it for each request. Always 0 in Deno, which does not report the idle time.
 */
export function watchEventLoop(): () => number {
  let since = performance.now();
  let before = performance.eventLoopUtilization();
  let busyMs = 0;
  return () => {
    const now = performance.now();
    if (now - since < periodMs) return busyMs;
    const { utilization } = performance.eventLoopUtilization(before);
    busyMs = utilization > 1 - minIdle ? busyMs + now - since : 0;
    since = now;
    before = performance.eventLoopUtilization();
    return busyMs;
  };
}
