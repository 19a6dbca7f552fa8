/** Sends one POST to one receiver, limited in time and response size, and reports the result. */
import type { Secret } from '#libs/contract';
import { isSuccess } from '../rules/backoff.ts';
import { checkTargetPolicy, type TargetPolicy } from '../rules/target.ts';
import { assertHostAllowed, createProxyAgent } from './proxy.ts';
import {
  AddressBlockedError,
  createGuardedConnector,
  getErrorCode,
  type Resolve,
  resolveAllowedAddresses,
} from './ssrf-guard.ts';

const maxResponseBytes = 16 * 1024;

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
}

/** Sends webhook requests. */
export interface Sender {
  /** Never rejects. Does not follow redirects. Reads up to 16 KiB of the response body and discards them. */
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
    const dispatcher = proxy
      ? await createProxyAgent({ ...options, proxy, limits })
      : new Agent({ ...limits, connect: await createGuardedConnector(options) });
    return { request, dispatcher };
  };
  // a process that sends nothing does not load undici
  let client: ReturnType<typeof loadClient> | undefined;

  let inFlight = 0;
  return {
    inFlight: () => inFlight,
    async send({ url, headers, body }) {
      const startedAt = performance.now();
      const toResult = (
        http_status: number | null,
        error: string | null,
        retry_after?: string,
      ): SendResult => {
        return { http_status, duration_ms: Math.round(performance.now() - startedAt), error, retry_after };
      };
      if (checkTargetPolicy(url, policy)) return toResult(null, 'target_refused');
      const { signal, clear } = startDeadline(timeoutMs);
      inFlight += 1;
      try {
        if (proxy) assertHostAllowed(new URL(url).hostname, policy);
        client ??= loadClient();
        const { request, dispatcher } = await client;
        const pending = request(url, {
          dispatcher,
          method: 'POST',
          headers: { ...headers },
          body,
          signal,
        });
        const response = await rejectOnAbort(pending, signal);
        const { statusCode } = response;
        const retryAfter = response.headers['retry-after'];
        const result = toResult(
          statusCode,
          isSuccess(statusCode) ? null : `status_${statusCode}`,
          typeof retryAfter === 'string' ? retryAfter : undefined,
        );
        await response.body.dump({ limit: maxResponseBytes, signal }).catch(() => undefined);
        return result;
      } catch (error) {
        return toResult(null, toErrorCode(error));
      } finally {
        inFlight -= 1;
        clear();
      }
    },
    checkTarget: (url) => checkTarget(url, options),
    close: async () => (await client)?.dispatcher.destroy(),
  };
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
  return code?.toLowerCase() ?? 'connection_failed';
}
