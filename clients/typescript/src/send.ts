/** Sends requests, with a time limit for each attempt and with retries. */
import { ConnectionError, ProblemError, TimeoutError } from './errors.ts';
import type { ApiResponse, CallOptions, NotModified } from './operation-types.ts';
import type { BuiltRequest, OperationFacts } from './requests.ts';
import { readResponse } from './responses.ts';
import { decideRetry, type RetryLimits, wasNotExecuted } from './retries.ts';

/** 24.8 days. A timer that is set to more, such as `Infinity`, ends at once. */
const longestTimerMs = 2 ** 31 - 1;

/** How requests are sent. */
export interface SendOptions extends RetryLimits, CallOptions {
  fetch: typeof globalThis.fetch;
  timeoutMs: number;
}

/**
 * Sends a request until it succeeds or must not be repeated. Rejects with a `ProblemError`, a `ConnectionError`, or the
 * reason of the signal.
 */
export async function send(
  request: BuiltRequest,
  operation: Pick<OperationFacts, 'returns' | 'isHtml'>,
  options: SendOptions,
): Promise<ApiResponse<unknown> | NotModified> {
  let wasLost = false;
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await sendOnce(request, operation, options);
    } catch (error) {
      if (options.signal?.aborted) throw options.signal.reason;
      if (wasLost && isGone(request, error)) return goneResponse(error);
      const { isRepeatable } = request;
      const delayMs = decideRetry(error, { attempt, isRepeatable, random: Math.random() }, options);
      if (delayMs === undefined) throw error;
      wasLost ||= !wasNotExecuted(error);
      await wait(delayMs, options.signal);
    }
  }
}

async function sendOnce(
  { url, method, headers, body }: BuiltRequest,
  operation: Pick<OperationFacts, 'returns' | 'isHtml'>,
  { fetch, signal, timeoutMs }: SendOptions,
): Promise<ApiResponse<unknown> | NotModified> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), Math.min(timeoutMs, longestTimerMs));
  try {
    const response = await fetch(url, {
      method,
      headers,
      body,
      // a redirect would turn POST into GET
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, limit.signal]) : limit.signal,
    });
    return await readResponse(response, operation, signal);
  } catch (error) {
    if (error instanceof ProblemError || signal?.aborted) throw error;
    const { origin, pathname } = new URL(url);
    if (limit.signal.aborted)
      throw new TimeoutError(`${method} ${pathname}: no response from ${origin} within ${timeoutMs} ms.`);
    const reason = formatCause(error);
    throw new ConnectionError(`${method} ${pathname}: no response from ${origin} (${reason}).`, {
      cause: error,
    });
  } finally {
    clearTimeout(timer);
  }
}

/** Whether a repeated DELETE found nothing: an attempt with an unknown outcome has deleted it. */
function isGone({ method }: BuiltRequest, error: unknown): error is ProblemError {
  return method === 'DELETE' && error instanceof ProblemError && error.status === 404;
}

function goneResponse({ requestId }: ProblemError): ApiResponse<undefined> {
  const facts = { isModified: true, data: undefined, etag: undefined, isReplayed: false } as const;
  return { ...facts, status: 204, requestId, headers: new Headers() };
}

/** The message of the inner error, because that of `fetch` does not say what failed. */
function formatCause(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return String(cause);
  return cause.message || ('code' in cause ? String(cause.code) : cause.name);
}

function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', end);
        resolve();
      },
      Math.min(ms, longestTimerMs),
    );
    signal?.addEventListener('abort', end, { once: true });
    if (signal?.aborted) end();
  });
}
