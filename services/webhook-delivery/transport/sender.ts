/** Sends one POST to one receiver, limited in time and response size, and reports the result. */
import type { Dispatcher } from 'undici';
import type { Secret } from '#libs/contract';
import { isSuccess } from '../rules/backoff.ts';
import { checkTargetPolicy, type TargetPolicy } from '../rules/target.ts';
import type { WebhookResponse } from '../shapes.ts';
import { assertHostAllowed, createProxyAgent } from './proxy.ts';
import { readExcerpt } from './response-excerpt.ts';
import {
  AddressBlockedError,
  createGuardedConnector,
  getErrorCode,
  type Resolve,
  resolveAllowedAddresses,
} from './ssrf-guard.ts';

/** One request to a receiver. */
export interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The result of one request. */
export interface SendResult {
  /** Status of the response, or null if none arrived in time. */
  readonly http_status: number | null;
  /** Time until the response headers or the failure, whole ms. */
  readonly duration_ms: number;
  /**
   * Stable error code such as `timeout`, `address_refused`, `econnrefused` or `status_500`; null for a 2xx.
   */
  readonly error: string | null;
  /** `Retry-After` header of the response. */
  readonly retry_after: string | undefined;
  readonly logged: LoggedResponse;
}

/** What the event log may show of a response. Empty if there was none. */
export interface LoggedResponse {
  readonly response?: WebhookResponse;
  /** Set if the address of the receiver is not known to be public. */
  readonly response_withheld?: true;
}

/** Sends webhook requests. */
export interface Sender {
  /** Never rejects. Does not follow redirects. Reads up to 16 KiB of the response body and returns the first KiB. */
  send(webhookRequest: WebhookRequest): Promise<SendResult>;
  /**
   * Returns an error message if the policy blocks this URL now, for use when a webhook is created or updated.
   * A name that does not resolve is accepted.
   */
  checkTarget(url: string): Promise<string | undefined>;
  /** Returns the number of requests in flight. */
  inFlight(): number;
  /** Closes all connections. */
  close(): Promise<void>;
}

/**
 * Creates a sender. It connects directly, or through a proxy if one is given. `timeoutMs` limits the whole
 * request, including DNS and TLS. `ca` replaces the default certificate authorities.
 */
export function createSender(options: {
  policy: TargetPolicy;
  timeoutMs: number;
  resolve: Resolve;
  proxy?: Secret | undefined;
  ca?: string | undefined;
}): Sender {
  const { policy, timeoutMs, proxy } = options;
  const limits = { allowH2: false, headersTimeout: 0, bodyTimeout: 0, maxHeaderSize: 16 * 1024 };
  const loadClient = async () => {
    const { Agent, request } = await import('undici');
    const createAgent = async (allowed: TargetPolicy) =>
      new Agent({ ...limits, connect: await createGuardedConnector({ ...options, policy: allowed }) });
    // only the response of an address that is known to be public may be shown to customers
    const routes: Route[] = proxy
      ? [{ dispatcher: await createProxyAgent({ ...options, proxy, limits }), isPublic: false }]
      : [{ dispatcher: await createAgent({ ...policy, allowedRanges: [] }), isPublic: true }];
    if (!proxy && policy.allowedRanges.length > 0)
      routes.push({ dispatcher: await createAgent(policy), isPublic: false });
    return { request, routes };
  };
  // a process that sends nothing does not load undici
  let client: ReturnType<typeof loadClient> | undefined;

  let inFlight = 0;
  return {
    inFlight: () => inFlight,
    async send({ url, headers, body }) {
      const startedAt = performance.now();
      const getDuration = () => Math.round(performance.now() - startedAt);
      const fail = (error: string): SendResult => {
        return { http_status: null, duration_ms: getDuration(), error, retry_after: undefined, logged: {} };
      };
      if (checkTargetPolicy(url, policy)) return fail('target_refused');
      const { signal, clear } = startDeadline(timeoutMs);
      inFlight += 1;
      try {
        if (proxy) assertHostAllowed(new URL(url).hostname, policy);
        client ??= loadClient();
        const { request, routes } = await client;
        const { response, isPublic } = await sendOver(routes, (dispatcher) => {
          const pending = request(url, { dispatcher, method: 'POST', headers: { ...headers }, body, signal });
          return rejectOnAbort(pending, signal);
        });
        const { statusCode } = response;
        const retryAfter = response.headers['retry-after'];
        const duration_ms = getDuration();
        const excerpt = await readExcerpt(response, signal);
        return {
          http_status: statusCode,
          duration_ms,
          error: isSuccess(statusCode) ? null : `status_${statusCode}`,
          retry_after: typeof retryAfter === 'string' ? retryAfter : undefined,
          logged: isPublic ? { response: excerpt } : { response_withheld: true },
        };
      } catch (error) {
        return fail(toErrorCode(error));
      } finally {
        inFlight -= 1;
        clear();
      }
    },
    checkTarget: (url) => checkTarget(url, options),
    async close() {
      for (const { dispatcher } of (await client)?.routes ?? []) await dispatcher.destroy();
    },
  };
}

/** A dispatcher with its own address policy. */
interface Route {
  readonly dispatcher: Dispatcher;
  /** Whether it only reaches public addresses, and those of this machine in a local run. */
  readonly isPublic: boolean;
}

/** Sends over the first route whose policy allows the address. The other routes send nothing. */
async function sendOver<T>(
  routes: readonly Route[],
  send: (dispatcher: Dispatcher) => Promise<T>,
): Promise<{ response: T; isPublic: boolean }> {
  for (const { dispatcher, isPublic } of routes.slice(0, -1)) {
    try {
      return { response: await send(dispatcher), isPublic };
    } catch (error) {
      const isRefused = error instanceof AddressBlockedError && error.reason === 'address_refused';
      if (!isRefused) throw error;
    }
  }
  const last = routes.at(-1);
  if (!last) throw new Error('There is no route');
  return { response: await send(last.dispatcher), isPublic: last.isPublic };
}

async function checkTarget(
  url: string,
  { policy, proxy, resolve }: { policy: TargetPolicy; proxy?: Secret | undefined; resolve: Resolve },
): Promise<string | undefined> {
  const message = checkTargetPolicy(url, policy);
  if (message) return message;
  try {
    const { hostname } = new URL(url);
    if (proxy) assertHostAllowed(hostname, policy);
    else await resolveAllowedAddresses(hostname, policy, resolve);
  } catch (error) {
    if (error instanceof AddressBlockedError && error.reason === 'name_not_resolved') return undefined;
    // no more, so that nobody learns which inner names exist and which addresses they have
    return 'This address is not public';
  }
  return undefined;
}

/** Like `AbortSignal.timeout`, but the timer can be cleared when the request ends. */
function startDeadline(ms: number): { signal: AbortSignal; clear(): void } {
  const controller = new AbortController();
  const abort = () => controller.abort(new DOMException('The request timed out', 'TimeoutError'));
  const timer = setTimeout(abort, ms);
  return { signal: controller.signal, clear: () => clearTimeout(timer) };
}

/** Rejects on abort while undici is still connecting, because undici checks the signal only after that. */
function rejectOnAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });
}

function toErrorCode(error: unknown): string {
  if (error instanceof AddressBlockedError) return error.reason;
  const code = getErrorCode(error);
  const name = typeof error === 'object' && error !== null && 'name' in error ? error.name : undefined;
  if (name === 'TimeoutError' || code === 'UND_ERR_CONNECT_TIMEOUT') return 'timeout';
  // undici reports this code if the proxy rejects CONNECT
  if (code === 'UND_ERR_ABORTED') return 'proxy_refused';
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return 'headers_too_large';
  // undici reports this code if the receiver closes the connection, which Node calls ECONNRESET
  if (code === 'UND_ERR_SOCKET') return 'econnreset';
  return code?.toLowerCase() ?? 'connection_failed';
}
