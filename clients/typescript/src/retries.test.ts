/** Tests which failures are repeated, and when. */
import { describe, expect, test } from '@jest/globals';
import { ConnectionError, ProblemError, TimeoutError } from './errors.ts';
import { decideRetry, parseRetryAfter } from './retries.ts';

const limits = { retries: 3, maxRetryDelayMs: 30_000 };
const problem = (status: number, code: string, retryAfterSeconds?: number) =>
  new ProblemError({ status, code, title: '', detail: '', retryAfterSeconds });
const decide = (error: unknown, isRepeatable = false, attempt = 0) =>
  decideRetry(error, { attempt, isRepeatable, random: 1 }, limits);

describe('retries', () => {
  test.each([
    problem(429, 'too_many_requests', 3),
    problem(503, 'unavailable', 3),
    problem(409, 'idempotency_key_in_flight', 3),
  ])('the service executed nothing ($code): every request is repeated', (error) => {
    expect(decide(error)).toBe(3_000);
  });

  test.each([
    new ConnectionError('reset'),
    new TimeoutError('late'),
    problem(502, 'unexpected_response'),
    problem(503, 'unexpected_response'),
    problem(504, 'unexpected_response'),
    problem(503, 'outcome_unknown'),
  ])('the outcome is unknown (%s): only repeatable requests are', (error) => {
    expect(decide(error, false)).toBeUndefined();
    expect(decide(error, true)).toBe(250);
  });

  test.each([
    problem(400, 'invalid_request'),
    problem(409, 'slug_taken', 1),
    problem(500, 'internal'),
    problem(200, 'unexpected_response'),
    new TypeError('doc_id is missing.'),
  ])('an error that would occur again is not repeated (%s)', (error) => {
    expect(decide(error, true)).toBeUndefined();
  });

  test('the number of repetitions is limited', () => {
    expect(decide(problem(429, 'too_many_requests', 1), true, 2)).toBe(1_000);
    expect(decide(problem(429, 'too_many_requests', 1), true, 3)).toBeUndefined();
  });

  test('a wait longer than the limit fails at once', () => {
    expect(decide(problem(429, 'too_many_requests', 30))).toBe(30_000);
    expect(decide(problem(429, 'too_many_requests', 31))).toBeUndefined();
  });

  test('a wait that the service did not ask for is shortened to the limit', () => {
    const facts = { attempt: 0, isRepeatable: true, random: 1 };
    expect(decideRetry(new ConnectionError('reset'), facts, { ...limits, maxRetryDelayMs: 100 })).toBe(100);
  });

  test('waits double, up to a limit, and vary by half', () => {
    const delay = (attempt: number, random: number) =>
      decideRetry(
        new ConnectionError('reset'),
        { attempt, isRepeatable: true, random },
        { ...limits, retries: 99 },
      );
    expect([0, 1, 2, 20].map((attempt) => delay(attempt, 1))).toEqual([250, 500, 1_000, 8_000]);
    expect(delay(0, 0)).toBe(125);
  });
});

test('Retry-After is a number of seconds or a date', () => {
  const now = Date.parse('2026-11-21T09:30:00Z');
  expect(parseRetryAfter('7', now)).toBe(7);
  expect(parseRetryAfter('Sat, 21 Nov 2026 09:30:05 GMT', now)).toBe(5);
  expect(parseRetryAfter('Sat, 21 Nov 2026 09:29:00 GMT', now)).toBe(0);
  for (const header of [null, '', 'soon', '1.5', '-1', '1234567890', 'Sat, 21 Nov 2026 09:30:05'])
    expect(parseRetryAfter(header, now)).toBeUndefined();
});
