/**
 * Admission control: while the process has more work than it can do in time, it rejects requests at once, and handles
 * few of the others at the same time.
 */
import { Unavailable } from '#libs/contract';
import { countActiveConnections } from './active-connections.ts';
import { periodMs, watchEventLoop } from './event-loop-watch.ts';
import { createSustainedOverload } from './sustained-overload.ts';

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
  /** The lowest limit under sustained overload. Default: 8. */
  minUnderOverload?: number;
}

/** A process is busy if its event loop had no idle time for so long: `maxRunningWhenBusy` applies. */
const busyAfterMs = periodMs;

/** A process is saturated if its event loop had no idle time for so long: `maxWhenSaturated` applies. */
const saturatedAfterMs = 3 * periodMs;

/** Counts the requests of a process and decides when each may run. */
export interface Admission {
  /** Returns whether to reject a request of a connection, with `overloadProblem`. */
  isOverloaded(connection: object): boolean;
  /**
   * Counts a request and waits for its turn. Call `isOverloaded` first. Throws `overloadProblem` if sustained overload
   * begins while it waits.
   */
  begin(): Promise<RequestProgress>;
}

/** A request that has begun. Both functions may be called repeatedly, one after the other. */
export interface RequestProgress {
  /** Stops counting the request: it has ended, or waits for its client or for an event. The next one may start. */
  pause(): void;
  /** Counts the request again and waits for its turn. Throws as `begin` does. */
  resume(): Promise<void>;
}

/** A request that waits for its turn: both functions end the waiting. */
interface WaitingRequest {
  start(): void;
  reject(problem: Error): void;
}

/** Created once: most of the cost of an error is its stack trace, and an overloaded process rejects many requests. */
export const overloadProblem = Unavailable(
  'The service is overloaded. Nothing was changed. Try again after the time in `Retry-After`.',
  { headers: { 'Retry-After': '1' } },
);

/**
 * Creates admission control. A process is overloaded if `maxInProgress` requests are in progress, or
 * `maxWhenSaturated` while it is saturated. A busy process handles few requests at the same time: so each turn of
 * its event loop is short, and it soon reads and rejects those that arrive. Under sustained overload, only
 * `minUnderOverload` requests are in progress, or more if they leave idle time. Deno does not tell whether its event
 * loop is idle, so there `maxInProgress` alone holds.
 */
export function createAdmission({
  maxInProgress,
  maxWhenSaturated = 128,
  maxRunningWhenBusy = 16,
  minUnderOverload = 8,
}: AdmissionLimits): Admission {
  let running = 0;
  let waiting: WaitingRequest[] = [];
  let hasTimer = false;
  const countConnections = countActiveConnections();
  const overload = createSustainedOverload(minUnderOverload, maxWhenSaturated);
  const getBusyMs = watchEventLoop(overload.recordPeriod);
  const isBusy = () => getBusyMs() >= busyAfterMs;
  const isSaturated = () => getBusyMs() >= saturatedAfterMs;
  return {
    isOverloaded(connection) {
      // fewer connections stay below `maxWhenSaturated`, even if their clients do not wait after a rejection
      const mayExceed = countConnections(connection) > maxWhenSaturated;
      const isNowSaturated = isSaturated();
      const usualLimit = isNowSaturated ? Math.min(maxWhenSaturated, maxInProgress) : maxInProgress;
      const limit = mayExceed ? (overload.getLimit() ?? usualLimit) : usualLimit;
      if (running + waiting.length < limit) return false;
      if (mayExceed && isNowSaturated && overload.recordRejection()) rejectWaiting();
      return true;
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
          await waitForTurn();
          isCounted = true;
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
    await new Promise<void>((start, reject) => waiting.push({ start, reject }));
  }

  function startNext(count: number): void {
    for (const { start } of waiting.splice(0, count)) {
      running += 1;
      start();
    }
  }

  function rejectWaiting(): void {
    for (const { reject } of waiting) reject(overloadProblem);
    waiting = [];
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
