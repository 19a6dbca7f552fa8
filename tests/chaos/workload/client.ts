/**
 * A client as an integration should be: it asks again with the same Idempotency-Key until it knows what became of its
 * request. Now and then an answer does not reach it although the request was done.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { newId } from '#libs/contract';
import { type SecretWatch, secretWatch } from '#libs/testing';

/** An answer: its status and its JSON, or its text where it is none. */
export interface ApiResponse {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the story looks into answers of every shape
  body: any;
}

/** Asks; `path` starts behind `/api/v1` unless it starts with `/embed`. Rejects when there is no final answer within two minutes. */
export type SendRequest = (
  method: string,
  path: string,
  options?: { as?: string; body?: unknown },
) => Promise<ApiResponse & { again: boolean }>;

/** A client and what it has under way. */
export interface Client {
  request: SendRequest;
  /** Whether a request to such a path is under way. */
  isRequesting(path: RegExp): boolean;
  /** How often it had to ask again. */
  retries(): number;
  /** All secrets that it sent, and those in answers, also in those that were lost. */
  secrets: SecretWatch;
}

const giveUpMs = 120_000;
const timeoutMs = 20_000;
/** Of so many changes, one is done and its answer lost. */
const lostEvery = 7;

/** A client of the API at an origin. In its answers `again` says that it was not the first time it asked. */
export function client(origin: string): Client {
  const secrets = secretWatch();
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
      secrets.know(as);
      secrets.knowWithin(body);
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
          if ('answer' in result) secrets.knowWithin(result.answer.body);
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

const lostResponse: AttemptResult = { why: 'its answer was lost', waitMs: 0 };

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

/** Statuses that say nothing about the request itself. */
const retryableStatuses = new Set([429, 502, 503, 504]);
