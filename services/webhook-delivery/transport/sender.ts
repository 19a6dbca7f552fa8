/** Sending: one POST to one receiver, bounded in time and size, and how it ended. */
import { Agent, request } from 'undici';
import type { Secret } from '#libs/contract';
import {
  AddressBlockedError,
  codeOf,
  guardedConnector,
  type Resolve,
  vettedAddresses,
} from './ssrf-guard.ts';
import { tunnels, vettedName } from './proxy.ts';
import { isSuccess } from '../rules/backoff.ts';
import { type TargetPolicy, targetFault } from '../rules/target.ts';

const answerBytes = 16 * 1024;

/** One request. */
export interface Shipment {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** How it ended. */
export interface Outcome {
  /** The answer's status, or null when no answer came in time. */
  readonly http_status: number | null;
  /** Until the answer's headers or the failure, whole ms. */
  readonly duration_ms: number;
  /** Why it is no success, as a stable word such as `timeout`, `address_refused`, `econnrefused`, `status_500`. */
  readonly error: string | null;
  /** The answer's `Retry-After`. */
  readonly retry_after: string | undefined;
}

/** Sends requests. */
export interface Sender {
  /** Never rejects. Redirects are not followed; up to 16 KiB of the answer are read and dropped. */
  send(shipment: Shipment): Promise<Outcome>;
  /** What the policy has against a URL now, for whoever registers it. A name that does not resolve is not held against it. */
  faultOf(url: string): Promise<string | undefined>;
  /** How many requests have not ended. */
  inFlight(): number;
  /** Closes every connection. */
  close(): Promise<void>;
}

/** A sender with its own connections, or tunnels through a proxy. `timeoutMs` is the whole time of a request, with DNS and TLS. */
export function sender(options: {
  policy: TargetPolicy;
  timeoutMs: number;
  resolve: Resolve;
  proxy?: Secret | undefined;
  ca?: string | undefined;
}): Sender {
  const { policy, timeoutMs, resolve, proxy } = options;
  const limits = { allowH2: false, headersTimeout: 0, bodyTimeout: 0, maxHeaderSize: 16 * 1024 };
  const dispatcher = proxy
    ? tunnels({ ...options, proxy, limits })
    : new Agent({ ...limits, connect: guardedConnector(options) });

  let inFlight = 0;
  return {
    inFlight: () => inFlight,
    async send({ url, headers, body }) {
      const startedAt = performance.now();
      const ended = (http_status: number | null, error: string | null, retry_after?: string): Outcome => {
        return { http_status, duration_ms: Math.round(performance.now() - startedAt), error, retry_after };
      };
      if (targetFault(url, policy)) return ended(null, 'target_refused');
      const { signal, done } = deadline(timeoutMs);
      inFlight += 1;
      try {
        if (proxy) vettedName(new URL(url).hostname, policy);
        const asked = request(url, {
          dispatcher,
          method: 'POST',
          headers: { ...headers },
          body,
          signal,
        });
        const answer = await orAborted(asked, signal);
        const { statusCode } = answer;
        const retryAfter = answer.headers['retry-after'];
        const outcome = ended(
          statusCode,
          isSuccess(statusCode) ? null : `status_${statusCode}`,
          typeof retryAfter === 'string' ? retryAfter : undefined,
        );
        await answer.body.dump({ limit: answerBytes, signal }).catch(() => undefined);
        return outcome;
      } catch (error) {
        return ended(null, reasonOf(error));
      } finally {
        inFlight -= 1;
        done();
      }
    },
    async faultOf(url) {
      const fault = targetFault(url, policy);
      if (fault) return fault;
      try {
        const { hostname } = new URL(url);
        if (proxy) vettedName(hostname, policy);
        else await vettedAddresses(hostname, policy, resolve);
      } catch (error) {
        if (error instanceof AddressBlockedError && error.reason === 'name_not_resolved') return undefined;
        return 'This host has an address that is not public';
      }
      return undefined;
    },
    close: () => dispatcher.destroy(),
  };
}

/** As `AbortSignal.timeout`, but nothing of it outlives the request. */
function deadline(ms: number): { signal: AbortSignal; done(): void } {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new DOMException('Too late', 'TimeoutError')), ms);
  return { signal: late.signal, done: () => clearTimeout(timer) };
}

/** undici looks at the signal only once it is connected, so the time is watched here as well. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });
}

function reasonOf(error: unknown): string {
  if (error instanceof AddressBlockedError) return error.reason;
  const code = codeOf(error);
  const name = typeof error === 'object' && error !== null && 'name' in error ? error.name : undefined;
  if (name === 'TimeoutError' || code === 'UND_ERR_CONNECT_TIMEOUT') return 'timeout';
  // an answer of the proxy to CONNECT that is no success
  if (code === 'UND_ERR_ABORTED') return 'proxy_refused';
  return code?.toLowerCase() ?? 'connection_failed';
}
