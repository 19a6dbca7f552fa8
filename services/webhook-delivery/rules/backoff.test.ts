/** What follows an attempt. */
import { describe, expect, test } from '@jest/globals';
import { decideRetry, parseRetryAfter } from './backoff.ts';

const delaysMs = [30_000, 1_800_000];
const verdict = (number: number, httpStatus: number | null, retryAfter?: number, random = 0) =>
  decideRetry({ number, httpStatus, retryAfterMs: retryAfter }, delaysMs, random);

describe('any 2xx is delivered', () => {
  test.each([200, 201, 204, 299])('%i', (status) => {
    expect(verdict(1, status)).toEqual({ status: 'delivered' });
    expect(verdict(3, status)).toEqual({ status: 'delivered' });
  });
});

describe('anything else is tried again after 30 seconds, then after 30 minutes, then failed', () => {
  test.each([null, 199, 300, 302, 400, 404, 429, 500, 503])('%p', (status) => {
    expect(verdict(1, status)).toEqual({ status: 'pending', delayMs: 30_000 });
    expect(verdict(2, status)).toEqual({ status: 'pending', delayMs: 1_800_000 });
    expect(verdict(3, status)).toEqual({ status: 'failed' });
  });
});

test('a fourth attempt is never decided, however many pauses are given', () => {
  expect(decideRetry({ number: 3, httpStatus: 500 }, [1, 1, 1, 1], 0)).toEqual({ status: 'failed' });
});

test('without a pause there is no further attempt', () => {
  expect(decideRetry({ number: 1, httpStatus: 500 }, [], 0)).toEqual({ status: 'failed' });
});

test('410 fails at once', () => {
  expect(verdict(1, 410)).toEqual({ status: 'failed' });
});

test('jitter is only added, up to a fifth', () => {
  expect(verdict(1, 500, undefined, 0.5)).toEqual({ status: 'pending', delayMs: 33_000 });
  expect(verdict(1, 500, undefined, 0.999_999)).toEqual({ status: 'pending', delayMs: 36_000 });
});

describe('Retry-After', () => {
  test('counts on 429 and 503', () => {
    expect(verdict(1, 429, 90_000)).toEqual({ status: 'pending', delayMs: 90_000 });
    expect(verdict(1, 503, 90_000)).toEqual({ status: 'pending', delayMs: 90_000 });
  });
  test('does not count on other statuses', () => {
    expect(verdict(1, 500, 90_000)).toEqual({ status: 'pending', delayMs: 30_000 });
  });
  test('never shortens a pause', () => {
    expect(verdict(2, 429, 1_000)).toEqual({ status: 'pending', delayMs: 1_800_000 });
  });
  test('counts for an hour at most', () => {
    expect(verdict(1, 503, 86_400_000)).toEqual({ status: 'pending', delayMs: 3_600_000 });
    expect(verdict(1, 503, Number.POSITIVE_INFINITY)).toEqual({ status: 'pending', delayMs: 3_600_000 });
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
    ['a date that is none', 'Sat, 99 Foo 2026', undefined],
    ['an absurd number', '9'.repeat(400), Number.POSITIVE_INFINITY],
    ['nothing', undefined, undefined],
  ])('as %s', (_, header, expected) => {
    expect(parseRetryAfter(header, now)).toBe(expected);
  });
});
