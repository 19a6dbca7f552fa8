/** Rate limits of signing in: how many attempts are allowed in a window of time. */
import ipaddr from 'ipaddr.js';

/** At most `max` attempts in each window of `windowMs` milliseconds; a `max` of 0 turns the limit off. */
export interface RateLimit {
  max: number;
  windowMs: number;
}

/** The rate limits that the operator sets. */
export interface SignInLimits {
  /** Registrations from one address. */
  registrations: RateLimit;
  /** Attempts from one address to log in, register, accept an invitation or use a password reset. */
  logins: RateLimit;
  /** Failed logins of one account from one address. */
  failures: RateLimit;
}

/**
 * Multiplies the limit of failed logins when one account is counted over all addresses. The larger limit
 * keeps an attacker from locking the owner out quickly.
 */
export const accountLimitFactor = 10;

/** What counts as one address: an IPv4 address, or the /64 network of an IPv6 address. */
export function toNetwork(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const ip = ipaddr.process(address);
  return ip instanceof ipaddr.IPv6
    ? `${ip.toNormalizedString().split(':', 4).join(':')}::/64`
    : ip.toString();
}

/** The window that contains `at`: its number and its end. */
export function getWindow(at: Date, windowMs: number): { number: number; endsAt: Date } {
  const number = Math.floor(at.getTime() / windowMs);
  return { number, endsAt: new Date((number + 1) * windowMs) };
}

/** Whole seconds from `at` until `moment`, at least 1. */
export function secondsUntil(moment: Date, at: Date): number {
  return Math.max(1, Math.ceil((moment.getTime() - at.getTime()) / 1000));
}
