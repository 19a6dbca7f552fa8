/** Rate limit counters in MongoDB, shared by all replicas. A counter covers one window and then expires. */
import { createHash } from 'node:crypto';
import { rateLimitHeaders, TooManyRequests } from '#libs/contract';
import type { Store } from '#libs/store';
import { getWindow, type RateLimit, secondsUntil } from '../rules/rate-limit.ts';
import { rateLimits } from './collections.ts';

/** What is counted: a policy and the subjects that it applies to, e.g. `login` and an address. */
export type RateLimitKey = readonly [policy: string, ...subjects: string[]];

/** Creates the rate limiter. */
export function createRateLimiter(store: Store, now: () => Date) {
  const rows = store.rows(rateLimits);

  return {
    /**
     * Counts one attempt. Above the limit it rejects with `TooManyRequests` and `Retry-After`. Returns the
     * function that refunds the attempt.
     */
    async consume(key: RateLimitKey, limit: RateLimit): Promise<() => Promise<void>> {
      if (limit.max === 0) return async () => undefined;
      const { _id, endsAt, at } = toWindow(key, limit);
      const options = { upsert: true, returnDocument: 'after' as const };
      const count = { $inc: { count: 1 }, $setOnInsert: { expires_at: endsAt } };
      const row = await rows.findOneAndUpdate({ _id }, count, options).lean();
      if ((row?.count ?? 1) > limit.max) throw limitExceededError(key, limit, secondsUntil(endsAt, at));
      return async () => {
        await rows.updateOne({ _id }, { $inc: { count: -1 } });
      };
    },
  };

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
