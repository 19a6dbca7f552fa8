/** What breakers do to due rows. */
import { expect, test } from '@jest/globals';
import { createEndpointBackoff } from './endpoint-backoff.ts';
import { createCircuitBreakers } from './rules/circuit-breaker.ts';
import type { AttemptResult } from './store/queue.ts';

const ended = (http_status: number | null): AttemptResult => ({
  decision: { status: 'failed' },
  http_status,
  duration_ms: 1,
  error: http_status === null ? 'timeout' : null,
});
const silent = ended(null);

/** Writes down what is asked of the database; the first postponements may fail. */
function asked(errors: Error[] = []) {
  const done: string[] = [];
  const failed: number[] = [];
  const alone = createEndpointBackoff({
    breakers: createCircuitBreakers({ firstPauseMs: 60_000, maxPauseMs: 60_000 }),
    postponements: {
      async postpone(configId, ms) {
        const error = errors.shift();
        if (error) throw error;
        done.push(`postpone ${configId} ${ms > 59_000 && ms <= 60_000 ? 'a minute' : ms}`);
        return 2;
      },
      async resume(configId) {
        done.push(`resume ${configId}`);
      },
    },
    metrics: { recordFinished: (_, count = 1) => failed.push(count) },
    onError: (what) => done.push(what),
  });
  const fall = async () => {
    for (let times = 0; times < 5; times += 1) await alone.recordResult('a', silent);
    await alone.idle();
  };
  return { alone, done, failed, fall };
}

test('an open breaker postpones due deliveries and counts those too old', async () => {
  const { alone, done, failed, fall } = asked();
  expect(alone.limit('a')).toBe(4);
  await fall();
  expect(alone.limit('a')).toBe(0);
  expect(done).toEqual(['postpone a a minute']);
  expect(failed).toEqual([2]);
  expect(alone.pending()).toEqual([]);
});

test('the first response resumes postponed deliveries once', async () => {
  const { alone, done, fall } = asked();
  await alone.recordResult('a', ended(200));
  await fall();
  await alone.recordResult('a', ended(500));
  await alone.recordResult('a', ended(200));
  expect(done).toEqual(['postpone a a minute', 'resume a']);
  expect(alone.limit('a')).toBe(4);
});

test('later deliveries are postponed too, but only for open breakers', async () => {
  const { alone, done, fall } = asked();
  await fall();
  alone.postpone(['a', 'b', 'a']);
  expect(alone.pending()).toEqual(['a', 'b']);
  await alone.idle();
  expect(done).toEqual(['postpone a a minute', 'postpone a a minute']);
  expect(alone.pending()).toEqual([]);
});

test('a failed postponement is reported and the next one still runs', async () => {
  const { alone, done, fall } = asked([new Error('down')]);
  await fall();
  alone.postpone(['a']);
  await alone.idle();
  expect(done).toEqual(['Could not postpone deliveries', 'postpone a a minute']);
});
