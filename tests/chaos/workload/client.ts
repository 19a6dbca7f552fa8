/**
 * An API client that retries with the same Idempotency-Key until it gets a final response. It discards the first
 * response of every seventh change, as if the response was lost.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { newId } from '#libs/contract';
import { type SecretScanner, secretScanner } from '#libs/testing';

/** A response: its status and its JSON, or its text if it is not JSON. */
export interface ApiResponse {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: responses of every shape
  body: any;
}

/**
 * Sends a request. `path` omits `/api/v1`, unless it starts with `/embed`. `again` is true if the request was retried.
 * Rejects if there is no final response within two minutes.
 */
export type SendRequest = (
  method: string,
  path: string,
  options?: { as?: string; body?: unknown },
) => Promise<ApiResponse & { again: boolean }>;

/** An API client. */
export interface Client {
  request: SendRequest;
  /** Whether a request to a matching path is in flight. */
  isRequesting(path: RegExp): boolean;
  /** The number of retries. */
  retries(): number;
  /** All secrets in requests and responses, also in discarded responses. */
  secrets: SecretScanner;
}

const giveUpMs = 120_000;
const timeoutMs = 20_000;
/** One of this number of changes is done, but its response is discarded. */
const lostEvery = 7;

/** Creates a client of the API at an origin. */
export function client(origin: string): Client {
  const secrets = secretScanner();
  const inFlight = new Set<{ path: string }>();
  let repeats = 0;
  let changes = 0;

  return {
    secrets,
    retries: () => repeats,
    isRequesting: (path) => [...inFlight].some((one) => path.test(one.path)),
    async request(method, path, { as, body } = {}) {
      const entry = { path };
      inFlight.add(entry);
      secrets.add(as);
      secrets.addFrom(body);
      try {
        const url = origin + (path.startsWith('/embed') ? path : `/api/v1${path}`);
        const headers = {
          accept: 'application/json',
          ...(as !== undefined && { authorization: `Bearer ${as}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(method === 'POST' && { 'idempotency-key': newId() }),
        };
        const request = { method, headers, body: body === undefined ? null : JSON.stringify(body) };
        const limit = performance.now() + giveUpMs;
        if (method !== 'GET') changes += 1;
        const isLost = method !== 'GET' && changes % lostEvery === 0;
        for (let again = false; ; again = true) {
          const result = await sendOnce(url, request);
          if ('answer' in result) secrets.addFrom(result.answer.body);
          const outcome = isLost && !again && 'answer' in result ? lostResponse : result;
          if ('answer' in outcome) return { ...outcome.answer, again };
          if (performance.now() > limit) throw new Error(`${method} ${path}: ${outcome.why}`);
          repeats += 1;
          await pause(outcome.waitMs);
        }
      } finally {
        inFlight.delete(entry);
      }
    },
  };
}

const lostResponse: AttemptResult = { why: 'its response was lost', waitMs: 0 };

type AttemptResult = { answer: ApiResponse } | { why: string; waitMs: number };

async function sendOnce(url: string, request: RequestInit): Promise<AttemptResult> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, { ...request, signal: AbortSignal.timeout(timeoutMs) });
    text = await response.text();
  } catch (error) {
    return { why: String(error), waitMs: 500 };
  }
  const { status, headers } = response;
  const isJson = /[/+]json/.test(headers.get('content-type') ?? '');
  const body = isJson && text !== '' ? JSON.parse(text) : text;
  if (!retryableStatuses.has(status) && body.code !== 'idempotency_key_in_flight')
    return { answer: { status, body } };
  return { why: `${status} ${text}`, waitMs: Number(headers.get('retry-after') ?? 0.5) * 1000 };
}

/** Statuses after which the request is retried. */
const retryableStatuses = new Set([429, 502, 503, 504]);
