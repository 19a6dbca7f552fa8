/** Keeps an address from trying links: who asks for too many that are not there has to wait, but for links that opened before. */
import { LRUCache } from 'lru-cache';
import type { RateLimitPolicy } from '#libs/contract';
import { type TokenBucket, tokenBucket } from '#libs/http';

/** The limit of links that are not there. */
export interface NotFoundLimit {
  /** What callers are told of it. */
  readonly policy: RateLimitPolicy;
  /** Whole seconds until an address may ask for a link again; 0 is now. */
  waitS(address: string, link: string): number;
  /** Remembers what came of a link. */
  was(found: boolean, address: string, link: string): void;
}

/** Links that opened lately: whoever shares an address with somebody who tries links can go on reading. */
const mostRemembered = 10_000;

/** A limit for each address; `perMinute` 0 is none. */
export function notFoundLimit({ perMinute, now }: { perMinute: number; now: () => number }): NotFoundLimit {
  const policy = { name: 'not-found-links', quota: perMinute, windowSeconds: 60 };
  if (perMinute === 0) return { policy, waitS: () => 0, was: () => {} };
  const misses: TokenBucket = tokenBucket({ perMinute, burst: perMinute, now });
  const opened = new LRUCache<string, true>({ max: mostRemembered });
  return {
    policy,
    waitS: (address, link) => (opened.has(link) ? 0 : misses(address, 'peek')),
    was(found, address, link) {
      if (found) opened.set(link, true);
      else {
        opened.delete(link);
        misses(address);
      }
    },
  };
}
