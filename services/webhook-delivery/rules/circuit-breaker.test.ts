/** When an endpoint is left alone, and when it is asked again. */
import { describe, expect, test } from '@jest/globals';
import { createCircuitBreakers, isUnanswered } from './circuit-breaker.ts';

const made = () => createCircuitBreakers({ firstPauseMs: 30_000, maxPauseMs: 100_000 });
type Breakers = ReturnType<typeof made>;
const fail = ({ recordFailure }: Breakers, times: number, nowMs: number) =>
  Array.from({ length: times }, () => recordFailure('a', nowMs)).filter(Boolean).length;

test('four failures in a row change nothing, the fifth opens the breaker once', () => {
  const of = made();
  expect(fail(of, 4, 0)).toBe(0);
  expect(of.permits('a', 0, 4)).toBe(4);
  expect(fail(of, 4, 0)).toBe(1);
  expect(of.permits('a', 29_999, 4)).toBe(0);
  expect(of.remainingMs('a', 10_000)).toBe(20_000);
  expect(of.openCount()).toBe(1);
});

test('an answer in between starts the count again', () => {
  const of = made();
  fail(of, 4, 0);
  expect(of.recordSuccess('a')).toBe(false);
  expect(fail(of, 4, 0)).toBe(0);
});

test('others are not meant', () => {
  const of = made();
  fail(of, 5, 0);
  expect(of.permits('b', 0, 4)).toBe(4);
  expect(of.remainingMs('b', 0)).toBe(0);
});

describe('when the pause is over', () => {
  test('one request at a time asks; each failure doubles the pause up to the longest', () => {
    const of = made();
    fail(of, 5, 0);
    expect(of.permits('a', 30_000, 4)).toBe(1);
    expect(of.recordFailure('a', 30_000)).toBe(true);
    expect(of.remainingMs('a', 30_000)).toBe(60_000);
    expect(of.recordFailure('a', 90_000)).toBe(true);
    expect(of.remainingMs('a', 90_000)).toBe(100_000);
  });

  test('an answer closes it, and the next time begins with the first pause', () => {
    const of = made();
    fail(of, 5, 0);
    of.recordFailure('a', 30_000);
    expect(of.recordSuccess('a')).toBe(true);
    expect(of.permits('a', 30_000, 4)).toBe(4);
    expect(of.openCount()).toBe(0);
    fail(of, 5, 40_000);
    expect(of.remainingMs('a', 40_000)).toBe(30_000);
  });
});

test('an endpoint that was not heard of for long is forgotten', () => {
  const of = made();
  fail(of, 5, 1_000);
  of.evict(1_000);
  expect(of.openCount()).toBe(1);
  of.evict(1_001);
  expect(of.openCount()).toBe(0);
});

test('hanging and unreachable receivers count; answers, and refusals of our own, do not', () => {
  const ended = (http_status: number | null, error: string | null) => isUnanswered({ http_status, error });
  expect(ended(null, 'timeout')).toBe(true);
  expect(ended(null, 'econnrefused')).toBe(true);
  expect(ended(null, 'name_not_resolved')).toBe(true);
  expect(ended(503, 'status_503')).toBe(false);
  expect(ended(null, 'address_refused')).toBe(false);
  expect(ended(null, 'target_refused')).toBe(false);
});
