/** A rate limiter: one in-memory token bucket per key, with a steady rate and a burst. */
import type { RateLimitPolicy } from '#libs/contract';
import { createBoundedCache } from './bounded-cache.ts';

/**
 * Consumes one token of a key, or with `peek` only checks for one. Returns 0 if there was a token, else the
 * whole seconds until there is one.
 */
export interface TokenBucket {
  (key: string, mode?: 'consume' | 'peek'): number;
  /** The limit in the `RateLimit` headers. A caller may use the burst at once. */
  readonly policy: RateLimitPolicy;
}

/** Options of a token bucket; `now` is in milliseconds. */
export interface TokenBucketOptions {
  perMinute: number;
  burst: number;
  now: () => number;
  keys?: number;
  /** Name of the limit in the `RateLimit` headers. */
  name?: string;
}

/**
 * Creates buckets that refill at `perMinute` and hold at most `burst` tokens. Above `keys` buckets (default
 * 100,000) the least recently used one is dropped.
 */
export function tokenBucket(options: TokenBucketOptions): TokenBucket {
  const { perMinute, burst, now, keys } = options;
  const perMs = perMinute / 60_000;
  const buckets = createBoundedCache<string, { tokens: number; at: number }>(keys ?? 100_000);
  const consume = (key: string, mode: 'consume' | 'peek' = 'consume') => {
    const at = now();
    const previous = buckets.get(key) ?? { tokens: burst, at };
    const tokens = Math.min(burst, previous.tokens + Math.max(0, at - previous.at) * perMs);
    if (mode === 'consume') buckets.set(key, { tokens: tokens >= 1 ? tokens - 1 : tokens, at });
    return tokens >= 1 ? 0 : Math.ceil((1 - tokens) / perMs / 1000);
  };
  return Object.assign(consume, { policy: toPolicy(options) });
}

/** The limit in the `RateLimit` headers. */
export function toPolicy({ name, perMinute }: TokenBucketOptions): RateLimitPolicy {
  return { name: name ?? 'default', quota: perMinute, windowSeconds: 60 };
}
