/** Limits of signing in: how often, within which time; 0 is no limit. */
import ipaddr from 'ipaddr.js';

/** So many within a window of time. */
export interface Limit {
  most: number;
  windowMs: number;
}

/** The limits that the operator sets. */
export interface SignInLimits {
  /** Registrations from one address. */
  registrations: Limit;
  /** Attempts from one address to log in, register, accept an invitation or use a reset. */
  logins: Limit;
  /** Failed attempts for one account from one address. */
  failures: Limit;
}

/** Softer, for one account from any address: somebody else's guessing must not lock its owner out too soon. */
export const accountFactor = 10;

/** What is counted as one address: an IPv4 address, or the 64 bits of an IPv6 address that its owner was given. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const ip = ipaddr.process(address);
  return ip instanceof ipaddr.IPv6
    ? `${ip.toNormalizedString().split(':', 4).join(':')}::/64`
    : ip.toString();
}

/** The window that a moment is in: its number, and when it ends. */
export function windowAt(at: Date, windowMs: number): { number: number; endsAt: Date } {
  const number = Math.floor(at.getTime() / windowMs);
  return { number, endsAt: new Date((number + 1) * windowMs) };
}

/** Whole seconds until a moment, at least one. */
export function secondsUntil(moment: Date, at: Date): number {
  return Math.max(1, Math.ceil((moment.getTime() - at.getTime()) / 1000));
}
