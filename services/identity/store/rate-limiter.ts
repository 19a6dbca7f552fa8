/** Rate limit counters in MongoDB, shared by all replicas. A counter covers one window and then expires. */
import { createHash } from 'node:crypto';
import { rateLimitHeaders, TooManyRequests } from '#libs/contract';
import type { Store } from '#libs/store';
import {
  getSlowedWait,
  getWindow,
  type RateLimit,
  secondsUntil,
  slowdown,
  toNetworkLimits,
} from '../rules/rate-limit.ts';
import { rateLimits } from './collections.ts';

/** What is counted: a policy and the subjects that it applies to, e.g. `login` and an address. */
export type RateLimitKey = readonly [policy: string, ...subjects: string[]];

/** Takes back the count of an attempt. */
export type Refund = () => Promise<void>;

/** Creates the rate limiter. */
export function createRateLimiter(store: Store, now: () => Date) {
  const rows = store.rows(rateLimits);

  return {
    /**
     * Counts one attempt for each network of an address, the smallest first, or only for some of them. Above a limit it
     * rejects with `TooManyRequests` and `Retry-After`. `limit` is that of the smallest network.
     */
    async consume(
      key: RateLimitKey,
      limit: RateLimit,
      { address, only }: { address: string; only?: 'smallest' | 'larger' | undefined },
    ): Promise<Refund> {
      if (limit.max === 0) return async () => undefined;
      const networks = toNetworkLimits(address, limit);
      const counted = networks.slice(only === 'larger' ? 1 : 0, only === 'smallest' ? 1 : undefined);
      const refunds: Refund[] = [];
      for (const { network, limit } of counted) {
        const networkKey = [...key, network] as const;
        const { count, endsAt, at, refund } = await increment(networkKey, limit);
        if (count > limit.max) throw limitExceededError(key, limit, secondsUntil(endsAt, at));
        refunds.push(refund);
      }
      return async () => {
        await Promise.all(refunds.map((refund) => refund()));
      };
    },

    /**
     * Counts one attempt, and returns how long it has to wait, ms: 0 up to the limit. If the wait would be too long,
     * the attempt does not count and the call rejects with `TooManyRequests`.
     */
    async pace(key: RateLimitKey, limit: RateLimit): Promise<{ waitMs: number; refund: Refund }> {
      if (limit.max === 0) return { waitMs: 0, refund: async () => undefined };
      const { count, at, refund } = await increment(key, limit);
      const waitMs = getSlowedWait(count, limit, at);
      if (waitMs <= slowdown.maxWaitMs) return { waitMs, refund };
      await refund();
      throw limitExceededError(key, limit, slowdown.intervalMs / 1000);
    },
  };

  async function increment(key: RateLimitKey, limit: RateLimit) {
    const { _id, endsAt, at } = toWindow(key, limit);
    const options = { upsert: true, returnDocument: 'after' as const };
    const increment = { $inc: { count: 1 }, $setOnInsert: { expires_at: endsAt } };
    const row = await rows.findOneAndUpdate({ _id }, increment, options).lean();
    const refund = async () => {
      await rows.updateOne({ _id }, { $inc: { count: -1 } });
    };
    return { count: row?.count ?? 1, endsAt, at, refund };
  }

  function toWindow([policy, ...subjects]: RateLimitKey, { windowMs }: RateLimit) {
    const at = now();
    const { number, endsAt } = getWindow(at, windowMs);
    // a hash, so that the database holds no address and no email in plain text
    const hash = createHash('sha256').update(JSON.stringify(subjects)).digest('base64url');
    return { _id: `${policy}:${hash}:${number}`, endsAt, at };
  }
}

export type RateLimiter = ReturnType<typeof createRateLimiter>;

/** Policy names as callers read them in the `RateLimit-Policy` header. */
const policyNames: Readonly<Record<string, string>> = {
  login: 'logins',
  registration: 'registrations',
  failure: 'login-failures',
};

function limitExceededError([policy]: RateLimitKey, { max, windowMs }: RateLimit, waitSeconds: number) {
  const headers = { name: policyNames[policy] ?? policy, quota: max, windowSeconds: windowMs / 1000 };
  return TooManyRequests(undefined, { headers: rateLimitHeaders(headers, waitSeconds) });
}
