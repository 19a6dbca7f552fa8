/** Proxying: every request goes through a tunnel of the operator's proxy, which resolves names and decides where it leads. */
import { type Dispatcher, ProxyAgent } from 'undici';
import type { Secret } from '#libs/contract';
import { AddressBlockedError, tlsOptions } from './ssrf-guard.ts';
import { isAllowed, isLoopbackName, literalAddress, type TargetPolicy } from '../rules/target.ts';

/** Tunnels (CONNECT) through a proxy, also to http targets; TLS is between here and the receiver, and verified as ever. */
export function tunnels({
  proxy,
  timeoutMs,
  ca,
  limits,
}: {
  proxy: Secret;
  timeoutMs: number;
  ca?: string | undefined;
  limits: object;
}): Dispatcher {
  return new ProxyAgent({
    ...limits,
    uri: proxy.reveal(),
    proxyTunnel: true,
    connectTimeout: timeoutMs,
    requestTls: tlsOptions(ca),
    proxyTls: tlsOptions(ca),
  });
}

/** What can be said of a host without resolving it: addresses and this very machine must be allowed; else `Refused`. */
export function vettedName(hostname: string, policy: TargetPolicy): void {
  const literal = literalAddress(hostname);
  const isFine = literal ? isAllowed(literal, policy) : policy.allowLoopback || !isLoopbackName(hostname);
  if (!isFine) throw new AddressBlockedError('address_refused');
}
