/** Tests the retry policy. */
import { describe, expect, test } from '@jest/globals';
import { decideRetry, parseRetryAfter } from './backoff.ts';

const delaysMs = [30_000, 1_800_000];
const decide = (number: number, httpStatus: number | null, retryAfter?: number, random = 0) =>
  decideRetry({ number, httpStatus, retryAfterMs: retryAfter }, delaysMs, random);

describe('successful statuses', () => {
  test.each([200, 201, 204, 299])('status %i is delivered', (status) => {
    expect(decide(1, status)).toEqual({ status: 'delivered' });
    expect(decide(3, status)).toEqual({ status: 'delivered' });
  });
});

describe('other statuses', () => {
  test.each([null, 199, 300, 302, 400, 404, 429, 500, 503])(
    'status %p is retried after 30 s, then after 30 min, then fails',
    (status) => {
      expect(decide(1, status)).toEqual({ status: 'pending', delayMs: 30_000 });
      expect(decide(2, status)).toEqual({ status: 'pending', delayMs: 1_800_000 });
      expect(decide(3, status)).toEqual({ status: 'failed' });
    },
  );
});

test('a third attempt always fails, even if more delays are configured', () => {
  expect(decideRetry({ number: 3, httpStatus: 500 }, [1, 1, 1, 1], 0)).toEqual({ status: 'failed' });
});

test('an attempt without a configured delay fails', () => {
  expect(decideRetry({ number: 1, httpStatus: 500 }, [], 0)).toEqual({ status: 'failed' });
});

test('status 410 fails without a retry', () => {
  expect(decide(1, 410)).toEqual({ status: 'failed' });
});

test('jitter extends a delay by at most 20 percent', () => {
  expect(decide(1, 500, undefined, 0.5)).toEqual({ status: 'pending', delayMs: 33_000 });
  expect(decide(1, 500, undefined, 0.999_999)).toEqual({ status: 'pending', delayMs: 36_000 });
});

describe('Retry-After', () => {
  test('Retry-After is used for 429 and 503', () => {
    expect(decide(1, 429, 90_000)).toEqual({ status: 'pending', delayMs: 90_000 });
    expect(decide(1, 503, 90_000)).toEqual({ status: 'pending', delayMs: 90_000 });
  });
  test('Retry-After is ignored for other statuses', () => {
    expect(decide(1, 500, 90_000)).toEqual({ status: 'pending', delayMs: 30_000 });
  });
  test('Retry-After never shortens a delay', () => {
    expect(decide(2, 429, 1_000)).toEqual({ status: 'pending', delayMs: 1_800_000 });
  });
  test('Retry-After is limited to one hour', () => {
    expect(decide(1, 503, 86_400_000)).toEqual({ status: 'pending', delayMs: 3_600_000 });
    expect(decide(1, 503, Number.POSITIVE_INFINITY)).toEqual({ status: 'pending', delayMs: 3_600_000 });
  });

  const now = Date.parse('2026-11-21T09:30:00Z');
  test.each([
    ['seconds', '120', 120_000],
    ['a date', 'Sat, 21 Nov 2026 09:32:00 GMT', 120_000],
    ['a date in the past', 'Sat, 21 Nov 2020 09:32:00 GMT', undefined],
    ['zero', '0', undefined],
    ['a negative number', '-5', undefined],
    ['a fraction', '1.5', undefined],
    ['garbage', 'soon', undefined],
    ['an invalid date', 'Sat, 99 Foo 2026', undefined],
    ['a huge number', '9'.repeat(400), Number.POSITIVE_INFINITY],
    ['no value', undefined, undefined],
  ])('Retry-After with %s is parsed', (_, header, expected) => {
    expect(parseRetryAfter(header, now)).toBe(expected);
  });
});
