/** Guarded connections: a host is resolved, every one of its addresses is vetted, and only a vetted one is connected to. */
import type { Socket } from 'node:net';
import { buildConnector } from 'undici';
import { isAllowed, literalAddress, type TargetPolicy } from '../rules/target.ts';

/** All addresses of a host name, IPv4 and IPv6. Rejects when there are none. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/** A target that is not connected to; `reason` is a stable word for the log. */
export class AddressBlockedError extends Error {
  readonly reason: 'name_not_resolved' | 'address_refused';

  constructor(reason: AddressBlockedError['reason'], options?: ErrorOptions) {
    super(reason, options);
    this.name = 'Refused';
    this.reason = reason;
  }
}

const resolveMs = 3_000;
const nextAddressMs = 3_000;
const mostAddresses = 4;
const elsewhereMayHelp = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** The addresses of a URL's host, if all of them are allowed; else `Refused`. Literal addresses are vetted too. */
export async function vettedAddresses(
  hostname: string,
  policy: TargetPolicy,
  resolve: Resolve,
): Promise<readonly string[]> {
  const literal = literalAddress(hostname);
  const addresses = literal ? [literal] : await resolved(hostname, resolve);
  if (addresses.every((address) => isAllowed(address, policy))) return addresses;
  throw new AddressBlockedError('address_refused');
}

/** How TLS is spoken, always. */
export function tlsOptions(ca: string | undefined) {
  const minVersion = 'TLSv1.2' as const;
  return { rejectUnauthorized: true, minVersion, allowH2: false, ...(ca !== undefined && { ca }) };
}

/** A connector for undici. TLS is always verified, 1.2 or newer; `ca` trusts other authorities than the usual ones. */
export function guardedConnector(input: {
  policy: TargetPolicy;
  resolve: Resolve;
  timeoutMs: number;
  ca?: string | undefined;
}): buildConnector.connector {
  const tls = tlsOptions(input.ca);
  const patient = buildConnector({ ...tls, timeout: input.timeoutMs });
  const brief = buildConnector({ ...tls, timeout: Math.min(nextAddressMs, input.timeoutMs) });

  return (options, callback) => {
    connect(options).then(
      (socket) => callback(null, socket),
      (error) => callback(error, null),
    );
  };

  async function connect(options: buildConnector.Options) {
    const found = await vettedAddresses(options.hostname, input.policy, input.resolve);
    const [last = '', ...before] = found.slice(0, mostAddresses).reverse();
    for (const address of before.reverse()) {
      try {
        return await to(address, options, brief);
      } catch (error) {
        if (!elsewhereMayHelp.has(codeOf(error) ?? '')) throw error;
      }
    }
    return to(last, options, patient);
  }

  async function to(address: string, options: buildConnector.Options, connector: buildConnector.connector) {
    const socket = await new Promise<Socket>((resolve, reject) => {
      connector({ ...options, hostname: address }, (error, made) =>
        error === null ? resolve(made) : reject(error),
      );
    });
    if (isAllowed(socket.remoteAddress ?? '', input.policy)) return socket;
    socket.destroy();
    throw new AddressBlockedError('address_refused');
  }
}

/** The code of a system error, e.g. `ECONNREFUSED`. */
export function codeOf(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

async function resolved(hostname: string, resolve: Resolve): Promise<readonly string[]> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${hostname} was not resolved in time`)), resolveMs);
    timer.unref();
  });
  try {
    const addresses = await Promise.race([resolve(hostname), late]);
    if (addresses.length > 0) return addresses;
  } catch (cause) {
    throw new AddressBlockedError('name_not_resolved', { cause });
  } finally {
    clearTimeout(timer);
  }
  throw new AddressBlockedError('name_not_resolved');
}
