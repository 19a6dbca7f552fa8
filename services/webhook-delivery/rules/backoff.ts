/** The retry policy: decides after each attempt whether and when the delivery is retried. */

/** Maximum number of attempts per delivery, including attempts that were interrupted. */
export const maxAttempts = 3;

/** Jitter extends a delay by up to this share of it and never shortens it. */
const jitter = 0.2;
const maxRetryAfterMs = 3_600_000;

/** One finished attempt. */
export interface Attempt {
  /** Number of the attempt, from 1. */
  readonly number: number;
  /** Status of the response, or null if none arrived in time. */
  readonly httpStatus: number | null;
  /** `Retry-After` of the response, ms from now. */
  readonly retryAfterMs?: number | undefined;
}

/** What follows an attempt. `delayMs` is the time until the next attempt is due. */
export type RetryDecision =
  | { status: 'delivered' }
  | { status: 'failed' }
  | { status: 'pending'; delayMs: number };

/**
 * Decides what follows an attempt. `delaysMs` are the delays after the first and the second attempt; `random`
 * is in [0, 1). A 2xx status is delivered; `410 Gone` fails at once. `Retry-After` counts for 429 and 503
 * only, is limited to one hour and never shortens a delay.
 */
export function decideRetry(attempt: Attempt, delaysMs: readonly number[], random: number): RetryDecision {
  const { number, httpStatus, retryAfterMs = 0 } = attempt;
  if (httpStatus !== null && isSuccess(httpStatus)) return { status: 'delivered' };
  const baseMs = delaysMs[number - 1];
  if (httpStatus === 410 || number >= maxAttempts || baseMs === undefined) return { status: 'failed' };
  const minMs = httpStatus === 429 || httpStatus === 503 ? Math.min(retryAfterMs, maxRetryAfterMs) : 0;
  return { status: 'pending', delayMs: Math.round(Math.max(baseMs * (1 + jitter * random), minMs)) };
}

/** Returns whether an HTTP status means that the delivery arrived: any 2xx. */
export function isSuccess(httpStatus: number): boolean {
  return httpStatus >= 200 && httpStatus < 300;
}

/**
 * Parses a `Retry-After` header (RFC 9110, section 10.2.3) to ms from now. Returns undefined for a missing or
 * invalid header and for a time in the past.
 */
export function parseRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  const text = header?.trim() ?? '';
  const ms = /^\d+$/.test(text)
    ? Number(text) * 1000
    : /^[A-Z][a-z]+, /.test(text)
      ? Date.parse(text) - nowMs
      : 0;
  return ms > 0 ? ms : undefined;
}
