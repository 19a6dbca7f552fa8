/**
 * Circuit breakers, one per endpoint. A breaker opens after five consecutive requests without a response.
 * When its pause is over it is half-open: one request at a time tests the endpoint. Any response closes the
 * breaker.
 */

/** Consecutive requests without a response that open a breaker. */
const failuresToOpen = 5;

/** State of an endpoint with recent failures. */
interface BreakerState {
  /** The generation of the endpoint that the failures belong to. */
  readonly generation: string;
  failures: number;
  /** Open until this time, half-open after it, ms. Undefined while the breaker is closed. */
  openUntil?: number;
  pauseMs: number;
  lastFailureMs: number;
}

/** Errors raised before a request is sent; they show nothing about the receiver. */
const localErrors = new Set(['address_refused', 'target_refused']);

/** Returns whether a request got no response because the receiver hung or could not be reached. */
export function isUnanswered({
  http_status,
  error,
}: {
  http_status: number | null;
  error: string | null;
}): boolean {
  return http_status === null && error !== null && !localErrors.has(error);
}

export type CircuitBreakers = ReturnType<typeof createCircuitBreakers>;

/**
 * Creates the circuit breakers of one process. The first pause lasts `firstPauseMs`. Each failure while
 * half-open doubles the pause, up to `maxPauseMs`. All times are ms of one monotonic clock. Failures count for one
 * generation of an endpoint, so a new URL does not inherit those of the old one.
 */
export function createCircuitBreakers({
  firstPauseMs,
  maxPauseMs,
}: {
  firstPauseMs: number;
  maxPauseMs: number;
}) {
  const states = new Map<string, BreakerState>();

  return {
    /** Returns how many requests may be in flight: `usual` while closed, 0 while open, 1 while half-open. */
    permits(id: string, nowMs: number, usual: number): number {
      const openUntil = states.get(id)?.openUntil;
      if (openUntil === undefined) return usual;
      return nowMs < openUntil ? 0 : 1;
    },

    /** Returns how long the breaker stays open, ms; 0 if it is closed or half-open. */
    remainingMs(id: string, nowMs: number): number {
      return Math.max(0, (states.get(id)?.openUntil ?? nowMs) - nowMs);
    },

    /** Records a request without a response. Returns true if the breaker opens, or opens again. */
    recordFailure(id: string, generation: string, nowMs: number): boolean {
      const earlier = states.get(id);
      const state =
        earlier?.generation === generation
          ? earlier
          : { generation, failures: 0, pauseMs: firstPauseMs / 2, lastFailureMs: nowMs };
      states.set(id, state);
      state.failures += 1;
      state.lastFailureMs = nowMs;
      // requests that were in flight when the breaker opened must not extend the pause
      if (state.failures < failuresToOpen || (state.openUntil !== undefined && nowMs < state.openUntil))
        return false;
      state.pauseMs = Math.min(state.pauseMs * 2, maxPauseMs);
      state.openUntil = nowMs + state.pauseMs;
      return true;
    },

    /** Records a response of any status. Returns true if this closes an open or half-open breaker. */
    recordSuccess(id: string): boolean {
      const wasOpen = states.get(id)?.openUntil !== undefined;
      states.delete(id);
      return wasOpen;
    },

    /** Closes the breaker if its failures belong to another generation. Returns true if it does. */
    closeIfOutdated(id: string, generation: string): boolean {
      const state = states.get(id);
      if (state === undefined || state.generation === generation) return false;
      return states.delete(id);
    },

    /** Returns the number of open and half-open breakers. */
    openCount(): number {
      return [...states.values()].filter(({ openUntil }) => openUntil !== undefined).length;
    },

    /** Deletes the state of endpoints whose last failure is older than `sinceMs`, e.g. deleted webhooks. */
    evict(sinceMs: number): void {
      for (const [id, { lastFailureMs }] of states) if (lastFailureMs < sinceMs) states.delete(id);
    },
  };
}
