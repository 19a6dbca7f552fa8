/** Rate limits of signing in: how many attempts are allowed in a window of time. */
import { toNetworks } from '#libs/http';

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
 * Multiplies the limit of failed logins when one account is counted over all networks from which it did not log
 * in lately.
 */
export const accountLimitFactor = 10;

/**
 * How an account is slowed down beyond its limit. It gets one more attempt every `intervalMs` of the window. An
 * attempt that comes earlier waits for its turn, but not longer than `maxWaitMs`.
 */
export const slowdown = { intervalMs: 2_000, maxWaitMs: 10_000 };

/** A network with its limit. */
export interface NetworkLimit {
  network: string;
  limit: RateLimit;
}

/**
 * The networks of an address with their limits, the smallest first: an IPv4 address, or the /64, /56 and /48
 * networks of an IPv6 address. All of a /48 together stays below the limit of an account.
 */
export function toNetworkLimits(address: string, limit: RateLimit): NetworkLimit[] {
  return toNetworks(address).map(({ network, factor }) => {
    return { network, limit: { ...limit, max: limit.max * factor } };
  });
}

/** What counts as one address: an IPv4 address, or the /64 network of an IPv6 address. */
export function toNetwork(address: string): string {
  return toNetworks(address)[0]?.network ?? address;
}

/** The window that contains `at`: its number and its end. */
export function getWindow(at: Date, windowMs: number): { number: number; endsAt: Date } {
  const number = Math.floor(at.getTime() / windowMs);
  return { number, endsAt: new Date((number + 1) * windowMs) };
}

/**
 * How long an attempt waits, ms, if it is number `count` in the window that contains `at`. Infinity if that would
 * be longer than `maxWaitMs`.
 */
export function getSlowedWait(count: number, { max, windowMs }: RateLimit, at: Date): number {
  if (count <= max) return 0;
  const startsAt = getWindow(at, windowMs).endsAt.getTime() - windowMs;
  const waitMs = Math.max(0, startsAt + (count - max) * slowdown.intervalMs - at.getTime());
  return waitMs <= slowdown.maxWaitMs ? waitMs : Number.POSITIVE_INFINITY;
}

/** Whole seconds from `at` until `moment`, at least 1. */
export function secondsUntil(moment: Date, at: Date): number {
  return Math.max(1, Math.ceil((moment.getTime() - at.getTime()) / 1000));
}
