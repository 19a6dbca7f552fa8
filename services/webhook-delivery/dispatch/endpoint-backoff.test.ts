/** Tests how circuit breakers postpone and resume due deliveries. */
import { expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { createCircuitBreakers } from '../rules/circuit-breaker.ts';
import type { AttemptResult } from '../store/queue.ts';
import { createEndpointBackoff } from './endpoint-backoff.ts';

const toResult = (http_status: number | null): AttemptResult => ({
  decision: { status: 'failed' },
  http_status,
  duration_ms: 1,
  error: http_status === null ? 'timeout' : null,
});
const timeout = toResult(null);
const endpoint = { id: 'a', breakerGeneration: '1' };

/**
 * Creates a backoff with fakes that record their calls. The first postponements fail with `errors`. The stored
 * generation is first each of `generations`, then the last one. With `responds`, a response arrives during each
 * postponement, before it has changed the deliveries.
 */
function createFakes(errors: Error[] = [], generations = ['1'], { responds = false } = {}) {
  const calls: string[] = [];
  const failed: number[] = [];
  const backoff = createEndpointBackoff({
    breakers: createCircuitBreakers({ firstPauseMs: 60_000, maxPauseMs: 60_000 }),
    receivers: {
      getBreakerGeneration: async () =>
        (generations.length > 1 && generations.shift()) || String(generations[0]),
    },
    waiting: {
      async postpone(configId, ms) {
        const error = errors.shift();
        if (error) throw error;
        if (responds) await backoff.recordResult(endpoint, toResult(200));
        calls.push(`postpone ${configId} ${ms > 59_000 && ms <= 60_000 ? 'a minute' : ms}`);
        return 2;
      },
      async resume(configId) {
        calls.push(`resume ${configId}`);
      },
    },
    metrics: { recordFinished: (_, count = 1) => failed.push(count) },
    onError: (message) => calls.push(message),
  });
  const openBreaker = async () => {
    for (let times = 0; times < 5; times += 1) await backoff.recordResult(endpoint, timeout);
    await backoff.idle();
  };
  return { backoff, calls, failed, openBreaker };
}

test('an open breaker postpones due deliveries and counts those too old', async () => {
  const { backoff, calls, failed, openBreaker } = createFakes();
  expect(backoff.permits('a')).toBe(4);
  await openBreaker();
  expect(backoff.permits('a')).toBe(0);
  expect(calls).toEqual(['postpone a a minute']);
  expect(failed).toEqual([2]);
  expect(backoff.pending()).toEqual([]);
});

test('the first response resumes postponed deliveries once', async () => {
  const { backoff, calls, openBreaker } = createFakes();
  await backoff.recordResult(endpoint, toResult(200));
  await openBreaker();
  await backoff.recordResult(endpoint, toResult(500));
  await backoff.recordResult(endpoint, toResult(200));
  expect(calls).toEqual(['postpone a a minute', 'resume a']);
  expect(backoff.permits('a')).toBe(4);
});

test('later deliveries to open breakers are postponed, not admitted', async () => {
  const { backoff, calls, openBreaker } = createFakes();
  await openBreaker();
  const rows = ['a', 'b', 'a'].map((config_id) => ({ _id: newId(), config_id, organization_id: 'x' }));
  expect(backoff.admit(rows)).toEqual([rows[1]]);
  expect(backoff.pending()).toEqual(['a']);
  await backoff.idle();
  expect(calls).toEqual(['postpone a a minute', 'postpone a a minute']);
  expect(backoff.pending()).toEqual([]);
});

test('a failed postponement is reported and the next one still runs', async () => {
  const { backoff, calls, openBreaker } = createFakes([new Error('down')]);
  await openBreaker();
  backoff.admit([{ _id: newId(), config_id: 'a', organization_id: 'x' }]);
  await backoff.idle();
  expect(calls).toEqual(['Could not postpone deliveries', 'postpone a a minute']);
});

test('due deliveries of a new generation are not postponed', async () => {
  const { backoff, calls, openBreaker } = createFakes([], ['1', '1', '2']);
  await openBreaker();
  backoff.admit([{ _id: newId(), config_id: 'a', organization_id: 'x' }]);
  await backoff.idle();
  expect(calls).toEqual(['postpone a a minute']);
  expect(backoff.permits('a')).toBe(4);
});

test('deliveries postponed during a change of the webhook are resumed', async () => {
  const { backoff, calls, openBreaker } = createFakes([], ['1', '2']);
  await openBreaker();
  expect(calls).toEqual(['postpone a a minute', 'resume a']);
  expect(backoff.permits('a')).toBe(4);
});

test('deliveries are resumed after a response during their postponement', async () => {
  const { backoff, calls, openBreaker } = createFakes([], ['1'], { responds: true });
  await openBreaker();
  expect(calls).toEqual(['resume a', 'postpone a a minute', 'resume a']);
  expect(backoff.permits('a')).toBe(4);
});
