/**
 * Rate-limits password checks. An attempt is counted before the check, so that parallel requests cannot
 * bypass the limit.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { rateLimitHeaders, TooManyRequests } from '#libs/contract';
import { bulkhead } from '#libs/workers';
import { accountLimitFactor, type RateLimit, slowdown } from '../rules/rate-limit.ts';
import type { RateLimiter, Refund } from '../store/rate-limiter.ts';

/** A password check to limit. */
export interface LoginAttempt {
  email: string;
  address: string;
  /** Whether the account logged in lately from the network of this address. */
  isUsual: boolean;
}

/**
 * Runs `check`, which verifies the password of an account and returns undefined if it is wrong. A wrong
 * password counts as a failed login. Rejects with `TooManyRequests` when too many logins failed.
 */
export type WithLoginThrottle = <R>(
  attempt: LoginAttempt,
  check: () => Promise<R | undefined>,
) => Promise<R | undefined>;

/** How many attempts may wait for their turn in this process. A waiting attempt holds only its request. */
const maxWaiting = 100;

/**
 * Creates the throttle (docs/adr/0035). `failures` limits failed logins to an account from one network. From all
 * networks together the limit is ten times larger, and above it attempts wait for their turn. Usual networks of the
 * account have only their own limit, so nobody else can lock its owner out there. Unknown accounts are limited like
 * existing ones.
 */
export function createLoginThrottle(
  rateLimiter: RateLimiter,
  failures: RateLimit,
  wait: (ms: number) => Promise<unknown> = pause,
): WithLoginThrottle {
  const accountLimit = { ...failures, max: failures.max * accountLimitFactor };
  const whileWaiting = bulkhead({ maxConcurrent: maxWaiting, maxQueue: 0, createError: tooManyWaitingError });

  return async ({ email, address, isUsual }, check) => {
    const networks = { address, only: isUsual ? ('smallest' as const) : undefined };
    const refunds: Refund[] = [await rateLimiter.consume(['failure', email], failures, networks)];
    const refundAll = () => Promise.all(refunds.map((refund) => refund()));
    let result: Awaited<ReturnType<typeof check>>;
    try {
      if (!isUsual) {
        const { waitMs, refund } = await rateLimiter.pace(['failure', email], accountLimit);
        refunds.push(refund);
        // before the check, so that a waiting attempt holds no thread, memory or session of MongoDB
        if (waitMs > 0) await whileWaiting(() => wait(waitMs));
      }
      result = await check();
    } catch (error) {
      await refundAll();
      throw error;
    }
    // outside of the block above, so that a failure does not refund anything twice
    if (result !== undefined) await refundAll();
    return result;
  };

  function tooManyWaitingError() {
    const { max: quota, windowMs } = failures;
    const policy = { name: 'login-failures', quota, windowSeconds: windowMs / 1000 };
    return TooManyRequests(undefined, { headers: rateLimitHeaders(policy, slowdown.maxWaitMs / 1000) });
  }
}
