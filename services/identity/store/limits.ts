/** Counters of limits in MongoDB, so that all replicas share them; each counts one window and then expires. */
import { createHash } from 'node:crypto';
import { rateLimitHeaders, TooManyRequests } from '#libs/contract';
import type { Store } from '#libs/store';
import { type Limit, secondsUntil, windowAt } from '../rules/limits.ts';
import { rateLimits } from './collections.ts';

/** What is counted: a name and whom it concerns, e.g. `login` and an address. */
export type Counted = readonly [what: string, ...whom: string[]];

/** Counts what is limited. */
export function limits(store: Store, now: () => Date) {
  const rows = store.rows(rateLimits);

  return {
    /** Counts one more; over the limit it is `TooManyRequests` with `Retry-After`. Gives what takes it back. */
    async take(counted: Counted, limit: Limit): Promise<() => Promise<void>> {
      if (limit.most === 0) return async () => undefined;
      const { _id, endsAt, at } = windowOf(counted, limit);
      const options = { upsert: true, returnDocument: 'after' as const };
      const count = { $inc: { count: 1 }, $setOnInsert: { expires_at: endsAt } };
      const row = await rows.findOneAndUpdate({ _id }, count, options).lean();
      if ((row?.count ?? 1) > limit.most) throw tooMany(counted, limit, secondsUntil(endsAt, at));
      return async () => {
        await rows.updateOne({ _id }, { $inc: { count: -1 } });
      };
    },
  };

  function windowOf([what, ...whom]: Counted, { windowMs }: Limit) {
    const at = now();
    const { number, endsAt } = windowAt(at, windowMs);
    // addresses and emails are not kept in the clear
    const hash = createHash('sha256').update(JSON.stringify(whom)).digest('base64url');
    return { _id: `${what}:${hash}:${number}`, endsAt, at };
  }
}

export type Limits = ReturnType<typeof limits>;

/** The names that callers read of what is counted. */
const policyNames: Readonly<Record<string, string>> = {
  login: 'logins',
  registration: 'registrations',
  failure: 'login-failures',
};

function tooMany([what]: Counted, { most, windowMs }: Limit, waitSeconds: number) {
  const policy = { name: policyNames[what] ?? what, quota: most, windowSeconds: windowMs / 1000 };
  return TooManyRequests(undefined, { headers: rateLimitHeaders(policy, waitSeconds) });
}
