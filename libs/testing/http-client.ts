/** An HTTP client for tests, benchmarks and scripts. */
import { idempotencyHeader } from './idempotency-keys.ts';
import type { SecretScanner } from './secrets.ts';

/** A request. */
export interface TestRequest {
  /** Bearer token or API key. */
  as?: string | undefined;
  /** Sent as JSON; strings, bytes and forms are sent unchanged. */
  body?: unknown;
  headers?: Record<string, string>;
}

/** A value of any shape, read from JSON. */
// biome-ignore lint/suspicious/noExplicitAny: tests read the fields that they expect
export type AnyJson = any;

/** A response; `body` is parsed if it is JSON, otherwise it is the bytes. */
export interface TestResponse {
  status: number;
  headers: Headers;
  body: AnyJson;
  bytes: Uint8Array;
}

/** A client of one origin. */
export interface HttpClient {
  /** Sends a request. Resolves with the response of any status; rejects without a response. */
  request(method: string, path: string, request?: TestRequest): Promise<TestResponse>;
}

/** Options of a client. */
export interface ClientOptions {
  /** Gets the secrets of all requests and responses. */
  secrets?: SecretScanner;
  /** Default: no limit. */
  timeoutMs?: number;
}

/** Creates a client of an origin. It sends paths unchanged, for example `/metrics` to a management port. */
export function httpClient(origin: string, { secrets, timeoutMs }: ClientOptions = {}): HttpClient {
  return {
    async request(method, path, { as, body, headers } = {}) {
      secrets?.add(as);
      secrets?.addFrom(body instanceof URLSearchParams ? Object.fromEntries(body) : body);
      const isRaw =
        body === undefined ||
        typeof body === 'string' ||
        body instanceof FormData ||
        body instanceof URLSearchParams ||
        body instanceof Uint8Array;
      const response = await fetch(origin + path, {
        method,
        redirect: 'manual',
        headers: {
          ...idempotencyHeader(method, as),
          ...(as && { authorization: `Bearer ${as}` }),
          ...(isRaw ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        body: ((isRaw ? body : JSON.stringify(body)) as RequestInit['body']) ?? null,
        ...(timeoutMs !== undefined && { signal: AbortSignal.timeout(timeoutMs) }),
      });
      const bytes = new Uint8Array(await response.arrayBuffer());
      const isJson = /[/+]json\b/.test(response.headers.get('content-type') ?? '');
      const parsed = isJson && bytes.length > 0 ? JSON.parse(new TextDecoder().decode(bytes)) : bytes;
      secrets?.addFrom(parsed);
      return { status: response.status, headers: response.headers, body: parsed, bytes };
    },
  };
}

/**
 * Creates a client of the API at an origin. Paths are relative to `/api/v1`, unless they are `/` or start with
 * `/read` or `/embed`. A function selects the origin by the path, for services without a gateway.
 */
export function apiClient(
  origin: string | ((path: string) => string),
  options: ClientOptions = {},
): HttpClient {
  return {
    request(method, path, request) {
      const isAtRoot = path === '/' || /^\/(embed|read)\b/.test(path);
      const client = httpClient(typeof origin === 'string' ? origin : origin(path), options);
      return client.request(method, isAtRoot ? path : `/api/v1${path}`, request);
    },
  };
}

/** A request whose response must have a status, by default any 2xx. */
export type CheckedRequest = TestRequest & { status?: number };

/**
 * Sends a request and returns the response. Rejects with the method, path, status and body unless the status is the
 * expected one.
 */
export async function requestOrThrow(
  client: HttpClient,
  method: string,
  path: string,
  { status: expected, ...request }: CheckedRequest = {},
): Promise<TestResponse> {
  const response = await client.request(method, path, request);
  const { status, bytes } = response;
  const isExpected = expected === undefined ? status >= 200 && status < 300 : status === expected;
  if (isExpected) return response;
  throw new Error(`${method} ${path}: ${status} ${new TextDecoder().decode(bytes.subarray(0, 1_000))}`);
}

/** Like `requestOrThrow`, and returns only the body of the response. */
export async function must(
  client: HttpClient,
  method: string,
  path: string,
  request: CheckedRequest = {},
): Promise<TestResponse['body']> {
  return (await requestOrThrow(client, method, path, request)).body;
}

/** Follows the `next` links of a list and returns the items of all pages. Rejects on any status but 200. */
export async function listAll<Item>(client: HttpClient, path: string, as: string): Promise<Item[]> {
  const items: Item[] = [];
  for (let next: string | undefined = path; next !== undefined; ) {
    const page = await requestOrThrow(client, 'GET', next, { as, status: 200 });
    items.push(...page.body);
    next = /<[^>]*?\/api\/v1(\/[^>]*)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1];
  }
  return items;
}
