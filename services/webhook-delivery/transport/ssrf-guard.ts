/** SSRF guard: resolves a host, checks all of its addresses and connects only to a checked address. */
import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { isAllowed, parseLiteralAddress, type TargetPolicy } from '../rules/target.ts';

/** Returns all IPv4 and IPv6 addresses of a host name. Rejects if it has none. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/** A target that must not be connected to; `reason` is a stable error code for the event log. */
export class AddressBlockedError extends Error {
  readonly reason: 'name_not_resolved' | 'address_refused';

  constructor(reason: AddressBlockedError['reason'], options?: ErrorOptions) {
    super(reason, options);
    this.name = 'AddressBlockedError';
    this.reason = reason;
  }
}

const resolveTimeoutMs = 3_000;
/** Connect timeout for each address except the last, which gets the whole request timeout. */
const earlyTimeoutMs = 3_000;
const maxAddresses = 4;
/** Errors after which another address of the host may still work. */
const connectErrors = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/**
 * Returns the addresses of a host if the policy allows all of them; otherwise throws `AddressBlockedError`. A
 * host may be a literal address.
 */
export async function resolveAllowedAddresses(
  hostname: string,
  policy: TargetPolicy,
  resolve: Resolve,
): Promise<readonly string[]> {
  const literal = parseLiteralAddress(hostname);
  const addresses = literal ? [literal] : await resolveWithTimeout(hostname, resolve);
  if (addresses.every((address) => isAllowed(address, policy))) return addresses;
  throw new AddressBlockedError('address_refused');
}

/** Returns the TLS options of every connection. `ca` replaces the default certificate authorities. */
export function tlsOptions(ca: string | undefined) {
  const minVersion = 'TLSv1.2' as const;
  return { rejectUnauthorized: true, minVersion, allowH2: false, ...(ca !== undefined && { ca }) };
}

/**
 * Creates a connector for undici that connects only to allowed addresses. It tries up to four addresses in
 * order. TLS is always verified, version 1.2 or newer.
 */
export async function createGuardedConnector({
  policy,
  resolve: resolveHost,
  timeoutMs,
  ca,
}: {
  policy: TargetPolicy;
  resolve: Resolve;
  timeoutMs: number;
  ca?: string | undefined;
}): Promise<buildConnector.connector> {
  const undici = await import('undici');
  const tls = tlsOptions(ca);
  const lastConnector = undici.buildConnector({ ...tls, timeout: timeoutMs });
  const earlyConnector = undici.buildConnector({ ...tls, timeout: Math.min(earlyTimeoutMs, timeoutMs) });

  return (options, callback) => {
    connect(options).then(
      (socket) => callback(null, socket),
      (error) => callback(error, null),
    );
  };

  async function connect(options: buildConnector.Options) {
    const addresses = await resolveAllowedAddresses(options.hostname, policy, resolveHost);
    const [last = '', ...before] = addresses.slice(0, maxAddresses).reverse();
    for (const address of before.reverse()) {
      try {
        return await connectTo(address, options, earlyConnector);
      } catch (error) {
        if (!connectErrors.has(getErrorCode(error) ?? '')) throw error;
      }
    }
    return connectTo(last, options, lastConnector);
  }

  async function connectTo(
    address: string,
    options: buildConnector.Options,
    connector: buildConnector.connector,
  ) {
    const socket = await new Promise<Socket>((resolve, reject) => {
      connector({ ...options, hostname: address }, (error, connected) =>
        error === null ? resolve(connected) : reject(error),
      );
    });
    if (isAllowed(socket.remoteAddress ?? '', policy)) return socket;
    socket.destroy();
    throw new AddressBlockedError('address_refused');
  }
}

/** Returns the code of a system error, e.g. `ECONNREFUSED`, or undefined. */
export function getErrorCode(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

async function resolveWithTimeout(hostname: string, resolve: Resolve): Promise<readonly string[]> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Resolving ${hostname} timed out`)), resolveTimeoutMs);
    timer.unref();
  });
  try {
    const addresses = await Promise.race([resolve(hostname), timeout]);
    if (addresses.length > 0) return addresses;
  } catch (cause) {
    throw new AddressBlockedError('name_not_resolved', { cause });
  } finally {
    clearTimeout(timer);
  }
  throw new AddressBlockedError('name_not_resolved');
}
