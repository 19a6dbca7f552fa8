/** A token bucket for each key: a steady rate with a burst, kept in the process. */
import { LRUCache } from 'lru-cache';
import type { RateLimitPolicy } from '#libs/contract';

/** Takes one token of a key, or only looks for one: 0 when there was one, else the seconds until there is. */
export interface TokenBucket {
  (key: string, mode?: 'consume' | 'peek'): number;
  /** What callers are told of the limit; they may use a burst at once. */
  readonly policy: RateLimitPolicy;
}

/** Buckets that refill at `perMinute` and hold at most `burst` tokens; the least used keys are forgotten. */
export function tokenBucket({
  perMinute,
  keys,
  now,
  burst,
  name,
}: {
  perMinute: number;
  burst: number;
  now: () => number;
  keys?: number;
  /** The name of the limit in `RateLimit` headers. */
  name?: string;
}): TokenBucket {
  const perMs = perMinute / 60_000;
  const buckets = new LRUCache<string, { tokens: number; at: number }>({ max: keys ?? 100_000 });
  const consume = (key: string, mode: 'consume' | 'peek' = 'consume') => {
    const at = now();
    const previous = buckets.get(key) ?? { tokens: burst, at };
    const tokens = Math.min(burst, previous.tokens + Math.max(0, at - previous.at) * perMs);
    if (mode === 'consume') buckets.set(key, { tokens: tokens >= 1 ? tokens - 1 : tokens, at });
    return tokens >= 1 ? 0 : Math.ceil((1 - tokens) / perMs / 1000);
  };
  const policy = { name: name ?? 'default', quota: perMinute, windowSeconds: 60 };
  return Object.assign(consume, { policy });
}
