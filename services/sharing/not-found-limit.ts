/** Rate-limits requests for unknown links per address. Links that worked recently are exempt. */
import type { RateLimitPolicy } from '#libs/contract';
import { createBoundedCache, networkTokenBucket } from '#libs/http';

/** The rate limit of unknown links. */
export interface NotFoundLimit {
  /** The policy as clients see it in the `RateLimit-Policy` header. */
  readonly policy: RateLimitPolicy;
  /** Whole seconds until the address may request the link; 0 if it may do so now. */
  getWaitSeconds(address: string, link: string): number;
  /** Records whether a requested link was found. */
  record(found: boolean, address: string, link: string): void;
}

/** The number of recently found links that are exempt; readers may share an address with an attacker. */
const maxExemptLinks = 10_000;

/**
 * Creates a limit of `perMinute` unknown links for each address, or /64 network of IPv6 addresses, with larger limits
 * for /56 and /48; 0 disables it. `now` is in milliseconds.
 */
export function notFoundLimit({ perMinute, now }: { perMinute: number; now: () => number }): NotFoundLimit {
  const policy = { name: 'not-found-links', quota: perMinute, windowSeconds: 60 };
  if (perMinute === 0) return { policy, getWaitSeconds: () => 0, record: () => {} };
  const misses = networkTokenBucket({ perMinute, burst: perMinute, now });
  const found = createBoundedCache<string, true>(maxExemptLinks);
  return {
    policy,
    getWaitSeconds: (address, link) => (found.has(link) ? 0 : misses(address, 'peek')),
    record(isFound, address, link) {
      if (isFound) found.set(link, true);
      else {
        found.delete(link);
        misses(address);
      }
    },
  };
}
