/** Admission control: rejects requests at once while the process has more work than it can do in time. */
import { performance } from 'node:perf_hooks';
import { Unavailable } from '#libs/contract';

/** Limits of the requests in progress. */
export interface AdmissionLimits {
  /** Further requests are rejected, also while the CPU is idle. */
  maxInProgress: number;
  /** The limit of a saturated process. Below it, a burst or a pause of the process has no effect. Default: 128. */
  maxWhenSaturated?: number;
}

/** The period over which the use of the event loop is measured. */
const periodMs = 100;

/** A process is saturated if its event loop was idle for a smaller part of the last period. */
const minIdle = 0.05;

/** Counts the requests of a process. */
export interface Admission {
  /** Counts a request. Throws `Unavailable` if the process is overloaded. */
  begin(): RequestProgress;
}

/** A request in progress. Both functions may be called repeatedly. */
export interface RequestProgress {
  /** Stops counting the request: it has ended, or waits for its client. */
  pause(): void;
  /** Counts the request again. */
  resume(): void;
}

/**
 * Creates admission control. A process is overloaded if more than `maxInProgress` requests wait, for MongoDB or for
 * other work, or more than `maxWhenSaturated` while its event loop has no idle time. Deno reports no idle time of its
 * event loop, so there the first limit alone holds.
 */
export function createAdmission({ maxInProgress, maxWhenSaturated = 128 }: AdmissionLimits): Admission {
  let inProgress = 0;
  const loop = watchEventLoop();
  return {
    begin() {
      const limit = loop.isSaturated() ? Math.min(maxWhenSaturated, maxInProgress) : maxInProgress;
      if (inProgress >= limit)
        throw Unavailable(
          'The service is overloaded. Nothing was changed. Try again after the time in `Retry-After`.',
          { headers: { 'Retry-After': '1' } },
        );
      let counted = 0;
      const count = (now: 0 | 1) => {
        inProgress += now - counted;
        counted = now;
      };
      count(1);
      return { pause: () => count(0), resume: () => count(1) };
    },
  };
}

/** Measures how much of its time the event loop of this thread is idle, whenever it is asked. */
function watchEventLoop() {
  let since = performance.now();
  let before = performance.eventLoopUtilization();
  let isSaturated = false;
  return {
    /** Returns whether the event loop had no idle time in the last complete period. */
    isSaturated(): boolean {
      const now = performance.now();
      if (now - since < periodMs) return isSaturated;
      const { utilization } = performance.eventLoopUtilization(before);
      isSaturated = utilization > 1 - minIdle;
      since = now;
      before = performance.eventLoopUtilization();
      return isSaturated;
    },
  };
}
