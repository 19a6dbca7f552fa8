/** When an endpoint is left alone, and when it is asked again. */
import { describe, expect, test } from '@jest/globals';
import { createCircuitBreakers, isUnanswered } from './circuit-breaker.ts';

const made = () => createCircuitBreakers({ firstPauseMs: 30_000, maxPauseMs: 100_000 });
type Breakers = ReturnType<typeof made>;
const fail = ({ recordFailure }: Breakers, times: number, nowMs: number) =>
  Array.from({ length: times }, () => recordFailure('a', nowMs)).filter(Boolean).length;

test('the fifth consecutive failure opens the breaker once', () => {
  const of = made();
  expect(fail(of, 4, 0)).toBe(0);
  expect(of.permits('a', 0, 4)).toBe(4);
  expect(fail(of, 4, 0)).toBe(1);
  expect(of.permits('a', 29_999, 4)).toBe(0);
  expect(of.remainingMs('a', 10_000)).toBe(20_000);
  expect(of.openCount()).toBe(1);
});

test('a response resets the failure count', () => {
  const of = made();
  fail(of, 4, 0);
  expect(of.recordSuccess('a')).toBe(false);
  expect(fail(of, 4, 0)).toBe(0);
});

test('a failure does not affect other endpoints', () => {
  const of = made();
  fail(of, 5, 0);
  expect(of.permits('b', 0, 4)).toBe(4);
  expect(of.remainingMs('b', 0)).toBe(0);
});

describe('a half-open breaker', () => {
  test('it permits one request, and each failure doubles the pause', () => {
    const of = made();
    fail(of, 5, 0);
    expect(of.permits('a', 30_000, 4)).toBe(1);
    expect(of.recordFailure('a', 30_000)).toBe(true);
    expect(of.remainingMs('a', 30_000)).toBe(60_000);
    expect(of.recordFailure('a', 90_000)).toBe(true);
    expect(of.remainingMs('a', 90_000)).toBe(100_000);
  });

  test('a response closes it and resets the pause', () => {
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

test('the state of an endpoint without recent failures is evicted', () => {
  const of = made();
  fail(of, 5, 1_000);
  of.evict(1_000);
  expect(of.openCount()).toBe(1);
  of.evict(1_001);
  expect(of.openCount()).toBe(0);
});

test('only timeouts and unreachable receivers count as unanswered', () => {
  const ended = (http_status: number | null, error: string | null) => isUnanswered({ http_status, error });
  expect(ended(null, 'timeout')).toBe(true);
  expect(ended(null, 'econnrefused')).toBe(true);
  expect(ended(null, 'name_not_resolved')).toBe(true);
  expect(ended(503, 'status_503')).toBe(false);
  expect(ended(null, 'address_refused')).toBe(false);
  expect(ended(null, 'target_refused')).toBe(false);
});
