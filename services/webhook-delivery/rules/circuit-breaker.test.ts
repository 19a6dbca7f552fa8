/** Tests when a circuit breaker opens, half-opens and closes. */
import { describe, expect, test } from '@jest/globals';
import { createCircuitBreakers, isUnanswered } from './circuit-breaker.ts';

const createBreakers = () => createCircuitBreakers({ firstPauseMs: 30_000, maxPauseMs: 100_000 });
type CircuitBreakers = ReturnType<typeof createBreakers>;
const fail = ({ recordFailure }: CircuitBreakers, times: number, nowMs: number) =>
  Array.from({ length: times }, () => recordFailure('a', '1', nowMs)).filter(Boolean).length;

test('the fifth consecutive failure opens the breaker once', () => {
  const breakers = createBreakers();
  expect(fail(breakers, 4, 0)).toBe(0);
  expect(breakers.permits('a', 0, 4)).toBe(4);
  expect(fail(breakers, 4, 0)).toBe(1);
  expect(breakers.permits('a', 29_999, 4)).toBe(0);
  expect(breakers.remainingMs('a', 10_000)).toBe(20_000);
  expect(breakers.openCount()).toBe(1);
});

test('a response resets the failure count', () => {
  const breakers = createBreakers();
  fail(breakers, 4, 0);
  expect(breakers.recordSuccess('a')).toBe(false);
  expect(fail(breakers, 4, 0)).toBe(0);
});

test('a failure does not affect other endpoints', () => {
  const breakers = createBreakers();
  fail(breakers, 5, 0);
  expect(breakers.permits('b', 0, 4)).toBe(4);
  expect(breakers.remainingMs('b', 0)).toBe(0);
});

test('failures of an earlier generation do not count', () => {
  const breakers = createBreakers();
  fail(breakers, 4, 0);
  expect(breakers.recordFailure('a', '2', 0)).toBe(false);
  expect(breakers.permits('a', 0, 4)).toBe(4);
});

test('an open breaker closes for another generation only', () => {
  const breakers = createBreakers();
  fail(breakers, 5, 0);
  expect(breakers.closeIfOutdated('a', '1')).toBe(false);
  expect(breakers.permits('a', 0, 4)).toBe(0);
  expect(breakers.closeIfOutdated('a', '2')).toBe(true);
  expect(breakers.permits('a', 0, 4)).toBe(4);
  expect(breakers.closeIfOutdated('a', '3')).toBe(false);
});

describe('half-open', () => {
  test('a half-open breaker permits one request; a failure doubles the pause', () => {
    const breakers = createBreakers();
    fail(breakers, 5, 0);
    expect(breakers.permits('a', 30_000, 4)).toBe(1);
    expect(breakers.recordFailure('a', '1', 30_000)).toBe(true);
    expect(breakers.remainingMs('a', 30_000)).toBe(60_000);
    expect(breakers.recordFailure('a', '1', 90_000)).toBe(true);
    expect(breakers.remainingMs('a', 90_000)).toBe(100_000);
  });

  test('a response closes a half-open breaker and resets its pause', () => {
    const breakers = createBreakers();
    fail(breakers, 5, 0);
    breakers.recordFailure('a', '1', 30_000);
    expect(breakers.recordSuccess('a')).toBe(true);
    expect(breakers.permits('a', 30_000, 4)).toBe(4);
    expect(breakers.openCount()).toBe(0);
    fail(breakers, 5, 40_000);
    expect(breakers.remainingMs('a', 40_000)).toBe(30_000);
  });
});

test('the state of an endpoint without recent failures is evicted', () => {
  const breakers = createBreakers();
  fail(breakers, 5, 1_000);
  breakers.evict(1_000);
  expect(breakers.openCount()).toBe(1);
  breakers.evict(1_001);
  expect(breakers.openCount()).toBe(0);
});

test('only timeouts and unreachable receivers count as unanswered', () => {
  const isUnansweredResult = (http_status: number | null, error: string | null) =>
    isUnanswered({ http_status, error });
  expect(isUnansweredResult(null, 'timeout')).toBe(true);
  expect(isUnansweredResult(null, 'econnrefused')).toBe(true);
  expect(isUnansweredResult(null, 'name_not_resolved')).toBe(true);
  expect(isUnansweredResult(503, 'status_503')).toBe(false);
  expect(isUnansweredResult(null, 'address_refused')).toBe(false);
  expect(isUnansweredResult(null, 'target_refused')).toBe(false);
});
