/**
 * Rate-limits password checks. An attempt is counted before the check, so that parallel requests cannot
 * bypass the limit.
 */
import { accountLimitFactor, type RateLimit, toNetwork } from '../rules/rate-limit.ts';
import type { RateLimiter, RateLimitKey } from '../store/rate-limiter.ts';

/**
 * Runs `check`, which verifies the password of an account and returns undefined if it is wrong. A wrong
 * password counts as a failed login. Rejects with `TooManyRequests` when too many logins failed.
 */
export type WithLoginThrottle = <R>(
  account: { email: string; address: string },
  check: () => Promise<R | undefined>,
) => Promise<R | undefined>;

/**
 * Creates the throttle. `failures` limits failed logins to an account from one network; the limit from all
 * networks together is ten times larger. Unknown accounts are limited like existing ones.
 */
export function createLoginThrottle(rateLimiter: RateLimiter, failures: RateLimit): WithLoginThrottle {
  return async ({ email, address }, check) => {
    const limits: [RateLimitKey, RateLimit][] = [
      [['failure', email, toNetwork(address)], failures],
      [['failure', email], { ...failures, max: failures.max * accountLimitFactor }],
    ];
    const refunds: (() => Promise<void>)[] = [];
    const refundAll = () => Promise.all(refunds.map((refund) => refund()));
    for (const [key, limit] of limits) refunds.push(await rateLimiter.consume(key, limit));
    const result = await check().catch(async (error: unknown) => {
      await refundAll();
      throw error;
    });
    if (result !== undefined) await refundAll();
    return result;
  };
}
