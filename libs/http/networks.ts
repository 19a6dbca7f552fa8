/** The networks of an address. Limits count networks, because a caller has many IPv6 addresses. */
import ipaddr from 'ipaddr.js';
import { type TokenBucket, type TokenBucketOptions, tokenBucket, toPolicy } from './token-bucket.ts';

/**
 * The networks of an IPv6 address that are counted. A provider assigns a /64 to a device or a /56 or /48 to a
 * site, so the larger networks have larger limits.
 */
const ipv6Networks = [
  { bits: 64, factor: 1 },
  { bits: 56, factor: 2 },
  { bits: 48, factor: 4 },
] as const;

/** Splits a network with a prefix of 0 bits, which Express does not accept, into its two halves. */
export function splitWholeNetwork(network: string): string[] {
  if (!/\/0+$/.test(network)) return [network];
  return network.includes(':') ? ['::/1', '8000::/1'] : ['0.0.0.0/1', '128.0.0.0/1'];
}

/** A network, and how many times the limit of one address it has. */
export interface CountedNetwork {
  network: string;
  factor: number;
}

/**
 * The networks of an address, the smallest first: an IPv4 address, or the /64, /56 and /48 networks of an IPv6
 * address.
 */
export function toNetworks(address: string): CountedNetwork[] {
  const ip = ipaddr.isValid(address) ? ipaddr.process(address) : undefined;
  if (!(ip instanceof ipaddr.IPv6)) return [{ network: ip?.toString() ?? address, factor: 1 }];
  return ipv6Networks.map(({ bits, factor }) => {
    const first = ipaddr.IPv6.networkAddressFromCIDR(`${ip.toNormalizedString()}/${bits}`);
    return { network: `${first.toString()}/${bits}`, factor };
  });
}

/**
 * Creates token buckets for the networks of an address, which is the key. The limit is that of the smallest network.
 * A token is consumed from all buckets or from none.
 */
export function networkTokenBucket(options: TokenBucketOptions): TokenBucket {
  const buckets = new Map<number, TokenBucket>();
  for (const { factor } of ipv6Networks) {
    const limit = { perMinute: options.perMinute * factor, burst: options.burst * factor };
    buckets.set(factor, tokenBucket({ ...options, ...limit }));
  }
  const take = (address: string, mode: 'consume' | 'peek') =>
    Math.max(...toNetworks(address).map(({ network, factor }) => buckets.get(factor)?.(network, mode) ?? 0));
  const consume = (address: string, mode: 'consume' | 'peek' = 'consume') => {
    const waitS = take(address, 'peek');
    if (waitS === 0 && mode === 'consume') take(address, 'consume');
    return waitS;
  };
  return Object.assign(consume, { policy: toPolicy(options) });
}
