/** What an attempt holds that waits for its turn, and how many may wait. */
import { expect, test } from '@jest/globals';
import { getSlowedWait, type RateLimit, slowdown } from '../rules/rate-limit.ts';
import { addUsualNetwork, isUsualNetwork } from '../rules/usual-networks.ts';
import type { RateLimiter } from '../store/rate-limiter.ts';
import { createLoginThrottle } from './login-throttle.ts';

const failures: RateLimit = { max: 10, windowMs: 900_000 };
const attempt = { email: 'ada@example.com', address: '192.0.2.1', isUsual: false };

/** A throttle whose attempts all have to wait, until `release` is called. */
function createFixture() {
  const counts = { attempts: 0, checks: 0 };
  const released = Promise.withResolvers<void>();
  const count = () => {
    counts.attempts += 1;
    return async () => {
      counts.attempts -= 1;
    };
  };
  // the fake implements what the throttle uses
  const rateLimiter = {
    consume: async () => count(),
    pace: async () => ({ waitMs: 5_000, refund: count() }),
  } as RateLimiter;
  const withLoginThrottle = createLoginThrottle(rateLimiter, failures, () => released.promise);
  const check = async () => {
    counts.checks += 1;
    return undefined;
  };
  return { counts, release: released.resolve, withLoginThrottle, check };
}

test('an attempt that waits has not started its password check', async () => {
  const { counts, release, withLoginThrottle, check } = createFixture();
  const waiting = withLoginThrottle(attempt, check);
  await withLoginThrottle({ ...attempt, isUsual: true }, check);
  expect(counts.checks).toBe(1);
  release();
  await waiting;
  expect(counts.checks).toBe(2);
});

test('at most 100 attempts wait in a process, and further ones do not count', async () => {
  const { counts, release, withLoginThrottle, check } = createFixture();
  const waiting = Array.from({ length: 100 }, () => withLoginThrottle(attempt, check));
  await expect(withLoginThrottle(attempt, check)).rejects.toMatchObject({ name: 'too_many_requests' });
  expect(counts).toEqual({ attempts: 200, checks: 0 });
  release();
  await Promise.all(waiting);
  expect(counts).toEqual({ attempts: 200, checks: 100 });
});

test('if a refund fails, the others are not repeated', async () => {
  let refunds = 0;
  const rateLimiter = {
    consume: async () => async () => {
      refunds += 1;
    },
    pace: async () => ({ waitMs: 0, refund: () => Promise.reject(new Error('MongoDB is away')) }),
  } as unknown as RateLimiter;
  const withLoginThrottle = createLoginThrottle(rateLimiter, failures, async () => undefined);
  await expect(withLoginThrottle(attempt, async () => 'a session')).rejects.toThrow('MongoDB is away');
  expect(refunds).toBe(1);
});

test('above its limit an account gets one attempt every two seconds', () => {
  const at = (ms: number) => new Date(Date.parse('2026-11-21T09:30:00.000Z') + ms);
  const limit = { max: 100, windowMs: 900_000 };
  expect(slowdown).toEqual({ intervalMs: 2_000, maxWaitMs: 10_000 });
  expect(getSlowedWait(100, limit, at(0))).toBe(0);
  expect(getSlowedWait(101, limit, at(500))).toBe(1_500);
  expect(getSlowedWait(105, limit, at(0))).toBe(10_000);
  expect(getSlowedWait(106, limit, at(0))).toBe(Number.POSITIVE_INFINITY);
  expect(getSlowedWait(106, limit, at(60_000))).toBe(0);
});

test('a network is usual for 90 days after a login', () => {
  const start = new Date('2026-11-21T09:30:00.000Z');
  const later = (days: number) => new Date(start.getTime() + days * 86_400_000);
  const usual_networks = addUsualNetwork({ _id: 'ada' }, '192.0.2.1', start) ?? [];
  const ada = { _id: 'ada', usual_networks };
  expect(isUsualNetwork(undefined, '192.0.2.1', start)).toBe(false);
  expect(isUsualNetwork(ada, '192.0.2.1', later(89))).toBe(true);
  expect(isUsualNetwork(ada, '192.0.2.1', later(90))).toBe(false);
  expect(isUsualNetwork(ada, '192.0.2.2', start)).toBe(false);
  expect(isUsualNetwork({ ...ada, _id: 'bob' }, '192.0.2.1', start)).toBe(false);
  expect(addUsualNetwork(ada, '192.0.2.1', later(0.9))).toBeUndefined();
  expect(addUsualNetwork(ada, '192.0.2.1', later(1))).toHaveLength(1);
  expect(addUsualNetwork(ada, '192.0.2.2', later(1))).toHaveLength(2);
});
