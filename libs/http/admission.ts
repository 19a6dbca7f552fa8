/** Admission control: rejects requests at once while the process has more work than it can do in time. */
import { Unavailable } from '#libs/contract';

/** Limits of the requests in progress. */
export interface AdmissionLimits {
  /** Further requests are rejected, also while the CPU is idle. */
  maxInProgress: number;
  /** Below this number none is rejected, so that a burst or a pause of the process has no effect. Default: 128. */
  minInProgress?: number;
}

/** If a turn of the event loop takes longer, the requests in progress delay each other. */
const maxDelayMs = 15;

/** The weight of the newest measurement in the average delay. */
const weight = 0.2;

/** Counts the requests of a process. */
export interface Admission {
  /** Throws `Unavailable` if the process is overloaded. */
  assertCapacity(): void;
  /** Counts a request, until the returned function is called. */
  begin(): () => void;
}

/**
 * Creates admission control. A process is overloaded if its event loop is delayed by the requests in progress, or if
 * more than `maxInProgress` wait, for MongoDB or for other work.
 */
export function createAdmission({ maxInProgress, minInProgress = 128 }: AdmissionLimits): Admission {
  let inProgress = 0;
  let delayMs = 0;
  let isMeasuring = false;
  const measure = () => {
    if (isMeasuring) return;
    isMeasuring = true;
    const startedAt = performance.now();
    setImmediate(() => {
      isMeasuring = false;
      delayMs += weight * (performance.now() - startedAt - delayMs);
    });
  };
  return {
    assertCapacity() {
      if (inProgress < minInProgress) {
        delayMs = 0;
        return;
      }
      measure();
      if (delayMs > maxDelayMs || inProgress >= maxInProgress)
        throw Unavailable(
          'The service is overloaded. Nothing was changed. Try again after the time in `Retry-After`.',
          { headers: { 'Retry-After': '1' } },
        );
    },
    begin() {
      inProgress += 1;
      let hasEnded = false;
      return () => {
        if (!hasEnded) inProgress -= 1;
        hasEnded = true;
      };
    },
  };
}
