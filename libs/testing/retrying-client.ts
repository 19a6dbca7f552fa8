/**
 * An API client that retries with the same Idempotency-Key until it gets a final response. It discards the first
 * response of every seventh change, as if the response was lost.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { HttpClient, TestRequest, TestResponse } from './http-client.ts';
import { slowness } from './until.ts';

/** A final response. */
export interface FinalResponse extends TestResponse {
  /** Whether the request was retried. */
  isRetried: boolean;
}

/** A retrying client. */
export interface RetryingClient extends HttpClient {
  /** Sends a request. Rejects if there is no final response within two minutes, or later on a slow machine. */
  request(method: string, path: string, request?: TestRequest): Promise<FinalResponse>;
  /** Whether a request to a matching path is in flight. */
  isRequesting(path: RegExp): boolean;
  /** The number of retries. */
  retries(): number;
}

const giveUpMs = 120_000 * slowness;
/** One of this number of changes is done, but its response is discarded. */
const lostEvery = 7;
/** Statuses after which the request is retried. */
const retryableStatuses = new Set([429, 502, 503, 504]);

/** Adds retries to a client, which should have a time limit. */
export function retryingClient(client: HttpClient): RetryingClient {
  const inFlight = new Set<{ path: string }>();
  let retries = 0;
  let changes = 0;
  return {
    retries: () => retries,
    isRequesting: (path) => [...inFlight].some((one) => path.test(one.path)),
    async request(method, path, { headers, ...request } = {}) {
      const entry = { path };
      inFlight.add(entry);
      try {
        const key: Record<string, string> = method === 'POST' ? { 'idempotency-key': randomUUID() } : {};
        const keyed = { ...request, headers: { accept: 'application/json', ...key, ...headers } };
        const limit = performance.now() + giveUpMs;
        if (method !== 'GET') changes += 1;
        const isLost = method !== 'GET' && changes % lostEvery === 0;
        for (let isRetried = false; ; isRetried = true) {
          const result = await attempt(client, method, path, keyed);
          const outcome = isLost && !isRetried && 'response' in result ? lostResponse : result;
          if ('response' in outcome) return { ...outcome.response, isRetried };
          if (performance.now() > limit) throw new Error(`${method} ${path}: ${outcome.reason}`);
          retries += 1;
          await pause(outcome.waitMs);
        }
      } finally {
        inFlight.delete(entry);
      }
    },
  };
}

type AttemptResult = { response: TestResponse } | { reason: string; waitMs: number };

const lostResponse: AttemptResult = { reason: 'its response was lost', waitMs: 0 };

async function attempt(
  client: HttpClient,
  ...args: Parameters<HttpClient['request']>
): Promise<AttemptResult> {
  let response: TestResponse;
  try {
    response = await client.request(...args);
  } catch (error) {
    return { reason: String(error), waitMs: 500 };
  }
  const { status, headers, body } = response;
  if (!retryableStatuses.has(status) && body.code !== 'idempotency_key_in_flight') return { response };
  return {
    reason: `${status} ${JSON.stringify(body)}`,
    waitMs: Number(headers.get('retry-after') ?? 0.5) * 1000,
  };
}
