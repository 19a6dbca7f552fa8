/** Which addresses a webhook may be sent to: the public internet, and what the operator opens. */
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** A range of addresses. */
export interface Range {
  readonly network: Address;
  readonly bits: number;
}

/** What the operator allows beyond the public internet. */
export interface TargetPolicy {
  /** Loopback targets (localhost, 127.0.0.0/8, ::1), also by http. */
  readonly allowLoopback: boolean;
  readonly allowedRanges: readonly Range[];
}

/** The range that a CIDR text names; nothing when it names none. */
export function parseRange(cidr: string): Range | undefined {
  if (!ipaddr.isValidCIDR(cidr)) return undefined;
  const [network, bits] = ipaddr.parseCIDR(cidr);
  return { network, bits };
}

/** What is wrong with the form of a target, whatever the policy is; nothing when it is well-formed. */
export function urlFault(text: string): string | undefined {
  const url = URL.canParse(text) && !/\s/.test(text) ? new URL(text) : undefined;
  if (!url) return 'This is no absolute URL';
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopbackHost(url.hostname)))
    return 'Use an https URL';
  if (url.username || url.password) return 'A URL with credentials is refused: deliveries are signed instead';
  if (text.includes('#')) return 'A URL with a fragment is refused';
  return undefined;
}

/** What the policy has against a target before its name is resolved: its form, or http where https is asked for. */
export function targetFault(text: string, policy: TargetPolicy): string | undefined {
  const fault = urlFault(text);
  if (fault) return fault;
  return new URL(text).protocol === 'http:' && !policy.allowLoopback ? 'Use an https URL' : undefined;
}

/**
 * The address that a URL's host spells; nothing for a name. Decimal, hexadecimal, octal and short spellings were made
 * plain by `new URL()` already (WHATWG URL, host parsing).
 */
export function literalAddress(hostname: string): string | undefined {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  return ipaddr.isValid(bare) ? bare : undefined;
}

/** Whether a connection to this address is allowed: public (also inside of IPv4-mapped IPv6), or opened by the policy. */
export function isAllowed(address: string, policy: TargetPolicy): boolean {
  if (!ipaddr.isValid(address)) return false;
  const ip = ipaddr.process(address);
  if (policy.allowLoopback && ip.range() === 'loopback') return true;
  return isPublic(ip) || policy.allowedRanges.some((range) => isWithin(ip, range));
}

/** Azure's host agent answers on a public address, but only to virtual machines themselves: a metadata service. */
const publicMetadata = ['168.63.129.16'];

/** IPv6 gives out global addresses from 2000::/3 only (RFC 4291, section 2.4); NAT64, 6to4 and Teredo wrap others. */
const globalIpv6: Range = { network: ipaddr.parse('2000::'), bits: 3 };

function isPublic(ip: Address): boolean {
  if (ip.range() !== 'unicast' || publicMetadata.includes(ip.toString())) return false;
  return ip.kind() === 'ipv4' || isWithin(ip, globalIpv6);
}

function isWithin(ip: Address, { network, bits }: Range): boolean {
  return ip.kind() === network.kind() && ip.match(network, bits);
}

/** Whether a name stands for this very machine (RFC 6761, section 6.3). */
export function isLoopbackName(hostname: string): boolean {
  return /^(.+\.)?localhost\.?$/i.test(hostname);
}

function isLoopbackHost(hostname: string): boolean {
  const address = literalAddress(hostname);
  return address ? ipaddr.process(address).range() === 'loopback' : hostname === 'localhost';
}
