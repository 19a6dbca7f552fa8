/** Breakers: an endpoint that does not answer is left alone for a while, then asked by one request whether it is back. */

/** So many requests in a row without an answer open a breaker. */
const failuresToOpen = 5;

/** What is known of an endpoint that fails. */
interface Failing {
  failures: number;
  /** Until when it is left alone, ms of the clock; nothing while its breaker is closed. */
  openUntil?: number;
  pauseMs: number;
  lastMs: number;
}

/** Refusals of our own say nothing about whether somebody answers there. */
const refusals = new Set(['address_refused', 'target_refused']);

/** Whether a request that ended so had a receiver that did not answer: it hung, or there was no way to it. */
export function isUnanswered({
  http_status,
  error,
}: {
  http_status: number | null;
  error: string | null;
}): boolean {
  return http_status === null && error !== null && !refusals.has(error);
}

export type CircuitBreakers = ReturnType<typeof circuitBreakers>;

/** The breakers of one process: the first pause, and the longest that doubling it leads to. */
export function circuitBreakers({ pauseMs, longestMs }: { pauseMs: number; longestMs: number }) {
  const failing = new Map<string, Failing>();

  return {
    /** How many requests an endpoint may have in flight, if that is fewer than `usual`: none while it is left alone, then one. */
    permits(id: string, nowMs: number, usual: number): number {
      const openUntil = failing.get(id)?.openUntil;
      if (openUntil === undefined) return usual;
      return nowMs < openUntil ? 0 : 1;
    },

    /** For how long an endpoint is still to be left alone, ms. */
    remainingMs(id: string, nowMs: number): number {
      return Math.max(0, (failing.get(id)?.openUntil ?? nowMs) - nowMs);
    },

    /** A request without an answer. True when that opens the breaker, also once more. */
    recordFailure(id: string, nowMs: number): boolean {
      const one = failing.get(id) ?? { failures: 0, pauseMs: pauseMs / 2, lastMs: nowMs };
      failing.set(id, one);
      one.failures += 1;
      one.lastMs = nowMs;
      // those that were in flight when it opened say nothing new
      if (one.failures < failuresToOpen || (one.openUntil !== undefined && nowMs < one.openUntil))
        return false;
      one.pauseMs = Math.min(one.pauseMs * 2, longestMs);
      one.openUntil = nowMs + one.pauseMs;
      return true;
    },

    /** An answer, whatever it says. True when that closes an open breaker. */
    recordSuccess(id: string): boolean {
      const wasOpen = failing.get(id)?.openUntil !== undefined;
      failing.delete(id);
      return wasOpen;
    },

    /** How many breakers are open. */
    open(): number {
      return [...failing.values()].filter(({ openUntil }) => openUntil !== undefined).length;
    },

    /** Forgets endpoints of which nothing was heard since then, e.g. because they are deleted. */
    evict(sinceMs: number): void {
      for (const [id, { lastMs }] of failing) if (lastMs < sinceMs) failing.delete(id);
    },
  };
}
