/**
 * Admission control: while the process has more work than it can do in time, it rejects some requests soon, and handles
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

/** A process whose event loop had no idle time for this long is busy: `maxRunningWhenBusy` applies. */
const busyAfterMs = periodMs;

/** A busy process whose event loop had no idle time for this long is saturated: `maxWhenSaturated` applies. */
const saturatedAfterMs = 3 * periodMs;

/** How many requests run at the same time in sustained overload, at most `maxRunningWhenBusy`. */
const maxRunningWhenOverloaded = 8;

/**
 * In sustained overload, a request that has waited longer than this for its turn is rejected when the next one arrives,
 * or after up to 20 ms.
 */
const maxWaitWhenOverloadedMs = 5;

/** Counts the requests of a process and decides when each may run. */
export interface Admission {
  /**
   * Counts a request of a connection and waits for its turn. Returns `undefined` if the request must be rejected.
   * Otherwise call `pause` when it ends.
   */
  admit(connection: object): Promise<RequestProgress | undefined>;
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
  /** Whether it has started before. Then it is not rejected any more. */
  hasStarted: boolean;
  /** Starts or rejects it. */
  decide(isAdmitted: boolean): void;
}

/**
 * Creates admission control. A process rejects a request if `maxInProgress` are in progress, or `maxWhenSaturated`
 * while it is saturated. A busy process handles few requests at the same time: so each turn of its event loop is
 * short, and it soon reads those that arrive. In sustained overload, those that arrive last start first, and none
 * waits for long before it starts: it is answered soon, or rejected soon.
 *
 * Deno does not report the idle time of its event loop, so there `maxInProgress` alone holds.
 */
export function createAdmission({
  maxInProgress,
  maxWhenSaturated = 128,
  maxRunningWhenBusy = 16,
}: AdmissionLimits): Admission {
  let running = 0;
  // in the order in which they began to wait
  let waiting: WaitingRequest[] = [];
  let hasTimer = false;
  const getBusyMs = watchEventLoop();
  const isBusy = () => getBusyMs() >= busyAfterMs;
  const saturatedLimit = Math.min(maxWhenSaturated, maxInProgress);
  const overload = createSustainedOverload(saturatedLimit);
  const isOverloadSustained = () => isBusy() && overload.isSustained();
  return {
    async admit(connection) {
      overload.recordRequest(connection);
      rejectExpired();
      if (isFull()) {
        overload.recordRejection();
        return;
      }
      const arrivedAt = performance.now();
      return (await waitForTurn(false)) ? createProgress(arrivedAt) : undefined;
    },
  };

  function isFull(): boolean {
    const limit = getBusyMs() >= saturatedAfterMs ? saturatedLimit : maxInProgress;
    return running + waiting.length >= limit;
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
        await waitForTurn(true);
      },
    };
  }

  function getMaxRunning(): number {
    return isOverloadSustained()
      ? Math.min(maxRunningWhenOverloaded, maxRunningWhenBusy)
      : maxRunningWhenBusy;
  }

  /** Returns whether the turn has come: otherwise the request is rejected. */
  function waitForTurn(hasStarted: boolean): Promise<boolean> {
    if (waiting.length === 0 && (running < getMaxRunning() || !isBusy())) {
      running += 1;
      return Promise.resolve(true);
    }
    if (!hasTimer) setTimeout(startMore, periodMs);
    hasTimer = true;
    return new Promise((decide) => waiting.push({ since: performance.now(), hasStarted, decide }));
  }

  function startNext(count: number): void {
    for (let started = 0; started < count && waiting.length > 0; started += 1) {
      running += 1;
      takeNext()?.decide(true);
    }
  }

  /**
   * Removes the request that starts next. In sustained overload, that is the oldest of those that continue, otherwise
   * the newest.
   */
  function takeNext(): WaitingRequest | undefined {
    if (!isOverloadSustained()) return waiting.shift();
    const at = waiting.findIndex(({ hasStarted }) => hasStarted);
    return at === -1 ? waiting.pop() : waiting.splice(at, 1)[0];
  }

  function rejectExpired(): void {
    if (!isOverloadSustained()) return;
    const now = performance.now();
    const isExpired = ({ since, hasStarted }: WaitingRequest) =>
      now - since > maxWaitWhenOverloadedMs && !hasStarted;
    const expired = waiting.filter(isExpired);
    if (expired.length === 0) return;
    waiting = waiting.filter((request) => !isExpired(request));
    overload.recordRejection();
    for (const { decide } of expired) decide(false);
  }

  /**
   * Starts more requests if those that run leave the event loop idle, because they wait for something else. Otherwise
   * starts one, so that nothing waits forever behind slow requests while other work keeps the process busy.
   */
  function startMore(): void {
    rejectExpired();
    startNext(isBusy() ? 1 : maxRunningWhenBusy);
    hasTimer = waiting.length > 0;
    if (hasTimer) setTimeout(startMore, periodMs);
  }
}
