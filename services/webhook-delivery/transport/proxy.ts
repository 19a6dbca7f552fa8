/** Sends requests through the operator's proxy, which resolves names and enforces its own rules. */
import type { Dispatcher } from 'undici';
import type { Secret } from '#libs/contract';
import { isAllowed, isLoopbackName, parseLiteralAddress, type TargetPolicy } from '../rules/target.ts';
import { AddressBlockedError, tlsOptions } from './ssrf-guard.ts';

/**
 * Creates an agent that tunnels all requests (CONNECT) through a proxy, also those to http targets. TLS is
 * verified end to end with the receiver.
 */
export async function createProxyAgent({
  proxy,
  timeoutMs,
  ca,
  limits,
}: {
  proxy: Secret;
  timeoutMs: number;
  ca?: string | undefined;
  limits: object;
}): Promise<Dispatcher> {
  const { ProxyAgent } = await import('undici');
  return new ProxyAgent({
    ...limits,
    uri: proxy.reveal(),
    proxyTunnel: true,
    connectTimeout: timeoutMs,
    requestTls: tlsOptions(ca),
    proxyTls: tlsOptions(ca),
  });
}

/**
 * Throws `AddressBlockedError` for a literal address or loopback name that is not allowed. Does not resolve
 * names.
 */
export function assertHostAllowed(hostname: string, policy: TargetPolicy): void {
  const literal = parseLiteralAddress(hostname);
  const allowed = literal ? isAllowed(literal, policy) : policy.allowLoopback || !isLoopbackName(hostname);
  if (!allowed) throw new AddressBlockedError('address_refused');
}
