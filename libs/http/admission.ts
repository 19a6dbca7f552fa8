/**
 * Admission control: while the process has more work than it can do in time, it rejects requests at once, and handles
 * few of the others at the same time.
 */
import { performance } from 'node:perf_hooks';
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
}

/** A process is busy if its event loop had no idle time for so long: `maxRunningWhenBusy` applies. */
const busyAfterMs = periodMs;

/** A process is saturated if its event loop had no idle time for so long: `maxWhenSaturated` applies. */
const saturatedAfterMs = 3 * periodMs;

/** The number of requests that run at the same time in sustained overload, if that is less than in a busy process. */
const maxRunningWhenOverloaded = 8;

/** In sustained overload, a request that has waited longer than this for its turn is rejected. */
const maxWaitWhenOverloadedMs = 5;

/** Counts the requests of a process and decides when each may run. */
export interface Admission {
  /** Counts a request. Calls its `start` when its turn comes, or its `reject`: one of them once, maybe at once. */
  admit(request: ArrivedRequest): void;
}

/** A request that has arrived. */
export interface ArrivedRequest {
  /** The connection that sent it. */
  connection: object;
  start(progress: RequestProgress): void;
  reject(): void;
}

/** A request that has started. Both functions may be called repeatedly, one after the other. */
export interface RequestProgress {
  /** When the request arrived, as `performance.now()`. */
  readonly arrivedAt: number;
  /** Stops counting the request: it has ended, or waits for its client or for an event. The next one may start. */
  pause(): void;
  /** Counts the request again and waits for its turn. */
  resume(): Promise<void>;
}

/** A request that waits for its turn. */
interface WaitingRequest {
  since: number;
  start(): void;
  /** Absent if the request has started before: it is not rejected any more. */
  reject?(): void;
}

/**
 * Creates admission control. A process rejects a request if `maxInProgress` are in progress, or `maxWhenSaturated`
 * while it is saturated. A busy process handles few requests at the same time: so each turn of its event loop is
 * short, and it soon reads those that arrive. In sustained overload, those that arrive last start first, and none
 * waits for long: a request is answered soon, or rejected soon.
 *
 * Deno does not tell whether its event loop is idle, so there `maxInProgress` alone holds.
 */
export function createAdmission({
  maxInProgress,
  maxWhenSaturated = 128,
  maxRunningWhenBusy = 16,
}: AdmissionLimits): Admission {
  let running = 0;
  // in the order of arrival
  const waiting: WaitingRequest[] = [];
  let hasTimer = false;
  const getBusyMs = watchEventLoop();
  const isBusy = () => getBusyMs() >= busyAfterMs;
  const overload = createSustainedOverload(maxWhenSaturated);
  const isOverloaded = () => isBusy() && overload.isSustained();
  return {
    admit({ connection, start, reject }) {
      overload.recordRequest(connection);
      if (isOverloaded()) rejectLate();
      if (isFull()) {
        overload.recordRejection();
        reject();
        return;
      }
      const arrivedAt = performance.now();
      const progress = createProgress(arrivedAt);
      waitForTurn({ since: arrivedAt, start: () => start(progress), reject });
    },
  };

  function isFull(): boolean {
    const isSaturated = getBusyMs() >= saturatedAfterMs;
    return (
      running + waiting.length >= (isSaturated ? Math.min(maxWhenSaturated, maxInProgress) : maxInProgress)
    );
  }

  function createProgress(arrivedAt: number): RequestProgress {
    let isCounted = true;
    return {
      arrivedAt,
      pause() {
        if (!isCounted) return;
        isCounted = false;
        running -= 1;
        if (running < getMaxRunning()) startNext(1);
      },
      async resume() {
        if (isCounted) return;
        isCounted = true;
        await new Promise<void>((start) => waitForTurn({ since: performance.now(), start }));
      },
    };
  }

  function getMaxRunning(): number {
    return isOverloaded() ? Math.min(maxRunningWhenOverloaded, maxRunningWhenBusy) : maxRunningWhenBusy;
  }

  function waitForTurn(request: WaitingRequest): void {
    if (waiting.length === 0 && (running < getMaxRunning() || !isBusy())) {
      running += 1;
      request.start();
      return;
    }
    waiting.push(request);
    if (!hasTimer) setTimeout(startMore, periodMs);
    hasTimer = true;
  }

  function startNext(count: number): void {
    for (const { start } of isOverloaded() ? waiting.splice(-count) : waiting.splice(0, count)) {
      running += 1;
      start();
    }
  }

  /** Rejects the requests that have waited for too long. Starts those that cannot be rejected. */
  function rejectLate(): void {
    const latest = performance.now() - maxWaitWhenOverloadedMs;
    const inTime = waiting.findIndex(({ since }) => since >= latest);
    for (const { reject, start } of waiting.splice(0, inTime === -1 ? waiting.length : inTime)) {
      if (reject) {
        overload.recordRejection();
        reject();
      } else {
        running += 1;
        start();
      }
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
