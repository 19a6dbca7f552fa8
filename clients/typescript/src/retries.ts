/** Decides whether a failed request is sent again, and when. */
import { ConnectionError, ProblemError } from './errors.ts';

/** Limits of retries. */
export interface RetryLimits {
  /** The most repetitions of a request. */
  retries: number;
  /** The longest time to wait before a repetition, ms. */
  maxRetryDelayMs: number;
}

const [firstDelayMs, maxBackoffMs] = [250, 8_000];

/**
 * The time before the next attempt in ms, or undefined if the request must not be sent again. `attempt` counts from 0,
 * `random` is between 0 and 1.
 */
export function decideRetry(
  error: unknown,
  { attempt, isRepeatable, random }: { attempt: number; isRepeatable: boolean; random: number },
  { retries, maxRetryDelayMs }: RetryLimits,
): number | undefined {
  if (attempt >= retries) return undefined;
  if (!wasNotExecuted(error) && !(isRepeatable && isOutcomeUnknown(error))) return undefined;
  const backoffMs = Math.min(firstDelayMs * 2 ** attempt, maxBackoffMs);
  const asked = error instanceof ProblemError ? error.retryAfterSeconds : undefined;
  // only the service can ask for too long a wait
  if (asked === undefined) return Math.min(backoffMs * (0.5 + random / 2), maxRetryDelayMs);
  return asked * 1_000 <= maxRetryDelayMs ? asked * 1_000 : undefined;
}

/** Whether the service reported that it has changed nothing, and that the same request can work later. */
export function wasNotExecuted(error: unknown): boolean {
  if (!(error instanceof ProblemError)) return false;
  const { status, code } = error;
  if (status === 429 || code === 'idempotency_key_in_flight') return true;
  return status === 503 && code !== 'unexpected_response' && code !== 'outcome_unknown';
}

/** Whether the service may or may not have executed the request. */
function isOutcomeUnknown(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  // a proxy sends these if it gets no response from the service, and the service 503 `outcome_unknown`
  return error instanceof ProblemError && [502, 503, 504].includes(error.status);
}

/** The seconds of a `Retry-After` header, which is a number or a date. */
export function parseRetryAfter(header: string | null, now: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text);
  // Date.parse finds a date in almost any text, such as "1.5"
  if (!/^[a-z]{3}, .+ GMT$/i.test(text)) return undefined;
  const seconds = (Date.parse(text) - now) / 1_000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}
