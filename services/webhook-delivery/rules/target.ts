/** Target rules: webhooks may reach public addresses and the ranges that the operator allows. */
import ipaddr from 'ipaddr.js';
import { isHostName } from '#libs/contract';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** A CIDR range. */
export interface Range {
  readonly network: Address;
  readonly bits: number;
}

/** Targets that the operator allows in addition to public addresses. */
export interface TargetPolicy {
  /** Allows loopback targets (localhost, 127.0.0.0/8, ::1), also over http. */
  readonly allowLoopback: boolean;
  readonly allowedRanges: readonly Range[];
}

/** Parses a CIDR range. Returns undefined if the text is invalid. */
export function parseRange(cidr: string): Range | undefined {
  if (!ipaddr.isValidCIDR(cidr)) return undefined;
  const [network, bits] = ipaddr.parseCIDR(cidr);
  return { network, bits };
}

/**
 * Checks the form of a target URL, independent of the policy. Returns an error message, or undefined if it is
 * valid.
 */
export function checkUrlForm(text: string): string | undefined {
  if (/\s/.test(text)) return 'The URL must not contain spaces or line breaks';
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url) return 'The URL must be absolute and valid, such as https://example.com/hook';
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopbackHost(url.hostname)))
    return 'Use an https URL';
  if (!isHost(url.hostname)) return 'The URL must contain a valid host name or IP address';
  if (url.username || url.password)
    return 'The URL must not contain credentials. Deliveries are signed instead.';
  if (text.includes('#')) return 'The URL must not contain a fragment';
  return undefined;
}

/** Returns whether a host is an address or a name, which may end with the dot of the root. */
function isHost(hostname: string): boolean {
  return parseLiteralAddress(hostname) !== undefined || isHostName(hostname.replace(/\.$/, ''));
}

/**
 * Checks a target before its name is resolved: its form, and https unless loopback is allowed. Returns an
 * error message.
 */
export function checkTargetPolicy(text: string, policy: TargetPolicy): string | undefined {
  const message = checkUrlForm(text);
  if (message) return message;
  return new URL(text).protocol === 'http:' && !policy.allowLoopback ? 'Use an https URL' : undefined;
}

/**
 * Parses the host of a URL as an IP address. Returns undefined for a name. `new URL()` has already normalized
 * decimal, hexadecimal, octal and short notations (WHATWG URL, host parsing).
 */
export function parseLiteralAddress(hostname: string): string | undefined {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  return ipaddr.isValid(bare) ? bare : undefined;
}

/**
 * Returns whether an address may be connected to: public addresses (also IPv4-mapped) and those the policy
 * allows.
 */
export function isAllowed(address: string, policy: TargetPolicy): boolean {
  if (!ipaddr.isValid(address)) return false;
  const ip = ipaddr.process(address);
  if (policy.allowLoopback && ip.range() === 'loopback') return true;
  return isPublic(ip) || policy.allowedRanges.some((range) => isWithin(ip, range));
}

/** Azure's host agent: a metadata service with a public address that only virtual machines can reach. */
const publicMetadata = ['168.63.129.16'];

/**
 * Global IPv6 addresses are allocated from 2000::/3 only (RFC 4291, section 2.4). Ranges that embed IPv4
 * addresses (NAT64, 6to4, Teredo) are not public.
 */
const globalIpv6: Range = { network: ipaddr.parse('2000::'), bits: 3 };

function isPublic(ip: Address): boolean {
  if (ip.range() !== 'unicast' || publicMetadata.includes(ip.toString())) return false;
  return ip.kind() === 'ipv4' || isWithin(ip, globalIpv6);
}

function isWithin(ip: Address, { network, bits }: Range): boolean {
  return ip.kind() === network.kind() && ip.match(network, bits);
}

/** Returns whether a name always means the local machine (RFC 6761, section 6.3). */
export function isLoopbackName(hostname: string): boolean {
  return /^(.+\.)?localhost\.?$/i.test(hostname);
}

function isLoopbackHost(hostname: string): boolean {
  const address = parseLiteralAddress(hostname);
  return address ? ipaddr.process(address).range() === 'loopback' : hostname === 'localhost';
}
