/** Tests of the limits of wrong passwords. */
import { expect, test } from '@jest/globals';
import { addressPolicy, linkPolicy, passwordAttempts } from './attempts.ts';

const minuteMs = 60_000;

function createAttempts() {
  const clock = { ms: 1_000_000 };
  const attempts = passwordAttempts({ now: () => clock.ms });
  /** The seconds to wait for an attempt; 0 if it was counted. */
  const attempt = (link: string, address: string) => {
    const result = attempts.consume(link, address);
    return typeof result === 'function' ? 0 : result.waitSeconds;
  };
  return { clock, attempts, attempt };
}

test('ten attempts of an address for a link are free in 15 minutes', () => {
  const { clock, attempt } = createAttempts();
  expect(attempt('a', '192.0.2.1')).toBe(0);
  clock.ms += minuteMs;
  for (let count = 1; count < addressPolicy.quota; count += 1) expect(attempt('a', '192.0.2.1')).toBe(0);
  expect(attempt('a', '192.0.2.1')).toBe(14 * 60);
  expect([attempt('a', '192.0.2.2'), attempt('b', '192.0.2.1')]).toEqual([0, 0]);
  clock.ms += 14 * minuteMs - 1;
  expect(attempt('a', '192.0.2.1')).toBe(1);
  clock.ms += 1;
  // the first one is 15 minutes old, the other nine are not
  expect([attempt('a', '192.0.2.1'), attempt('a', '192.0.2.1')]).toEqual([0, 60]);
});

test('a hundred attempts for a link are free in an hour, from any addresses', () => {
  const { clock, attempts, attempt } = createAttempts();
  for (let count = 0; count < linkPolicy.quota; count += 1) {
    expect(attempt('a', `192.0.2.${count}`)).toBe(0);
    clock.ms += 1_000;
  }
  expect(attempts.consume('a', '192.0.2.200')).toEqual({ policy: linkPolicy, waitSeconds: 3600 - 100 });
  expect(attempt('b', '192.0.2.200')).toBe(0);
});

test('the longer wait counts if both limits are used up', () => {
  const { attempts, attempt } = createAttempts();
  for (let count = 0; count < linkPolicy.quota; count += 1) attempt('a', `192.0.2.${count % 10}`);
  expect(attempts.consume('a', '192.0.2.1')).toEqual({ policy: linkPolicy, waitSeconds: 3600 });
});

test('attempts that are taken back or rejected are not counted', () => {
  const { clock, attempts, attempt } = createAttempts();
  for (let count = 0; count < 200; count += 1) {
    const refund = attempts.consume('a', '192.0.2.1');
    if (typeof refund === 'function') refund();
  }
  for (let count = 0; count < addressPolicy.quota; count += 1) expect(attempt('a', '192.0.2.1')).toBe(0);
  for (let count = 0; count < 200; count += 1) expect(attempt('a', '192.0.2.1')).toBeGreaterThan(0);
  clock.ms += 15 * minuteMs;
  expect(attempt('a', '192.0.2.1')).toBe(0);
});

test('the addresses of an IPv6 network share their attempts', () => {
  const { attempt } = createAttempts();
  for (let count = 0; count < 10; count += 1) expect(attempt('a', `2001:db8:1:1::${count}`)).toBe(0);
  expect(attempt('a', '2001:db8:1:1::ffff')).toBeGreaterThan(0);
  // a /56 has twice the limit of a /64
  for (let count = 0; count < 10; count += 1) expect(attempt('a', '2001:db8:1:2::1')).toBe(0);
  expect(attempt('a', '2001:db8:1:3::1')).toBeGreaterThan(0);
});
