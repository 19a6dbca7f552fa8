/**
 * Admission control: while the process has more work than it can do in time, it rejects requests at once, and handles
 * few of the others at the same time.
 */
import { performance } from 'node:perf_hooks';
import { Unavailable } from '#libs/contract';

/** Limits of the requests in progress: those that run and those that wait for their turn. */
export interface AdmissionLimits {
  /** If so many requests are in progress, another one is rejected, also while the CPU is idle. */
  maxInProgress: number;
  /**
   * The limit of a saturated process. Below it, a burst or a short pause of the process causes no rejection.
   * Default: 128.
   */
  maxWhenSaturated?: number;
  /** If so many requests run in a busy process, or if others already wait, another one waits. Default: 16. */
  maxRunningWhenBusy?: number;
}

/** The idle time of the event loop is measured in periods of at least this length. */
const periodMs = 20;

/** A process is busy if its event loop had no idle time for so long: `maxRunningWhenBusy` applies. */
const busyAfterMs = periodMs;

/** A process is saturated if its event loop had no idle time for so long: `maxWhenSaturated` applies. */
const saturatedAfterMs = 3 * periodMs;

/** An event loop that was idle for a smaller share of a period counts as if it had no idle time in it. */
const minIdle = 0.05;

/** Counts the requests of a process and decides when each may run. */
export interface Admission {
  /** Returns whether the process is overloaded. If so, reject the request with `overloadProblem`. */
  isOverloaded(): boolean;
  /** Counts a request and waits for its turn. Never rejects it: call `isOverloaded` first. */
  begin(): Promise<RequestProgress>;
}

/** A request that has begun. Both functions may be called repeatedly, one after the other. */
export interface RequestProgress {
  /** Stops counting the request: it has ended, or waits for its client or for an event. The next one may start. */
  pause(): void;
  /** Counts the request again and waits for its turn. */
  resume(): Promise<void>;
}

/** Created once: most of the cost of an error is its stack trace, and an overloaded process rejects many requests. */
export const overloadProblem = Unavailable(
  'The service is overloaded. Nothing was changed. Try again after the time in `Retry-After`.',
  { headers: { 'Retry-After': '1' } },
);

/**
 * Creates admission control. A process is overloaded if `maxInProgress` requests are in progress, or
 * `maxWhenSaturated` while it is saturated. A busy process handles few requests at the same time: so each turn of
 * its event loop is short, and it soon reads and rejects those that arrive. Deno does not tell whether its event loop
 * is idle, so there `maxInProgress` alone holds.
 */
export function createAdmission({
  maxInProgress,
  maxWhenSaturated = 128,
  maxRunningWhenBusy = 16,
}: AdmissionLimits): Admission {
  let running = 0;
  const waiting: (() => void)[] = [];
  let hasTimer = false;
  const getBusyMs = watchEventLoop();
  const isBusy = () => getBusyMs() >= busyAfterMs;
  const isSaturated = () => getBusyMs() >= saturatedAfterMs;
  return {
    isOverloaded() {
      const limit = isSaturated() ? Math.min(maxWhenSaturated, maxInProgress) : maxInProgress;
      return running + waiting.length >= limit;
    },
    async begin() {
      let isCounted = false;
      const progress: RequestProgress = {
        pause() {
          if (!isCounted) return;
          isCounted = false;
          running -= 1;
          if (running < maxRunningWhenBusy) startNext(1);
        },
        async resume() {
          if (isCounted) return;
          isCounted = true;
          await waitForTurn();
        },
      };
      await progress.resume();
      return progress;
    },
  };

  async function waitForTurn(): Promise<void> {
    // called for every request, because a period ends only at a call
    const wasBusy = isBusy();
    if (waiting.length === 0 && (running < maxRunningWhenBusy || !wasBusy)) {
      running += 1;
      return;
    }
    if (!hasTimer) setTimeout(startMore, periodMs);
    hasTimer = true;
    // `startNext` counts it as running
    await new Promise<void>((resolve) => waiting.push(resolve));
  }

  function startNext(count: number): void {
    for (const start of waiting.splice(0, count)) {
      running += 1;
      start();
    }
  }

  /**
   * Starts more requests if those that run leave the event loop idle, because they wait for something else. Otherwise
   * starts one, so that nothing waits forever behind slow requests while other work keeps the process busy.
   */
  function startMore(): void {
    startNext(isBusy() ? 1 : maxRunningWhenBusy);
    hasTimer = waiting.length > 0;
    if (hasTimer) setTimeout(startMore, periodMs);
  }
}

/** Returns a function that returns for how long the event loop of this thread has had no idle time, milliseconds. */
function watchEventLoop(): () => number {
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
