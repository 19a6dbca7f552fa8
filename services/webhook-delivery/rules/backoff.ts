/** What follows an attempt: delivered, failed, or another attempt and when. */

/** No delivery is tried more often, whatever happens in between. */
export const maxAttempts = 3;

/** Jitter is only added, up to this share of a delay. */
const jitter = 0.2;
const longestRetryAfterMs = 3_600_000;

/** One attempt that was made. */
export interface Attempt {
  /** Which one it was, from 1. */
  readonly number: number;
  /** The answer's status, or null when none came in time. */
  readonly httpStatus: number | null;
  /** The answer's `Retry-After`, ms from now. */
  readonly retryAfterMs?: number | undefined;
}

/** What follows. */
export type Verdict = { status: 'delivered' } | { status: 'failed' } | { status: 'pending'; delayMs: number };

/**
 * Decides what follows an attempt. `delaysMs` are the pauses after the first and the second attempt; `random` is in
 * [0, 1). `410 Gone` fails at once; `Retry-After` counts on 429 and 503, up to an hour and never shortens a pause.
 */
export function verdictOn(attempt: Attempt, delaysMs: readonly number[], random: number): Verdict {
  const { number, httpStatus, retryAfterMs = 0 } = attempt;
  if (httpStatus !== null && isSuccess(httpStatus)) return { status: 'delivered' };
  const baseMs = delaysMs[number - 1];
  if (httpStatus === 410 || number >= maxAttempts || baseMs === undefined) return { status: 'failed' };
  const askedMs = httpStatus === 429 || httpStatus === 503 ? Math.min(retryAfterMs, longestRetryAfterMs) : 0;
  return { status: 'pending', delayMs: Math.round(Math.max(baseMs * (1 + jitter * random), askedMs)) };
}

/** Whether a status means that the delivery arrived. */
export function isSuccess(httpStatus: number): boolean {
  return httpStatus >= 200 && httpStatus < 300;
}

/** A `Retry-After` header (RFC 9110, section 10.2.3) as ms from now; nothing for the past and for garbage. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  const text = header?.trim() ?? '';
  const ms = /^\d+$/.test(text)
    ? Number(text) * 1000
    : /^[A-Z][a-z]+, /.test(text)
      ? Date.parse(text) - nowMs
      : 0;
  return ms > 0 ? ms : undefined;
}
