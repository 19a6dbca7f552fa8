/** Outcomes on their way into the database, also while there is none. */
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { createOutcomeWriter } from './outcome-writer.ts';
import type { AttemptResult, ClaimedRow, Outcome } from './store/queue.ts';

const result: AttemptResult = {
  decision: { status: 'delivered' },
  http_status: 200,
  duration_ms: 1,
  error: null,
};

function row(): ClaimedRow {
  const ids = { _id: newId(), event_id: newId(), config_id: newId(), organization_id: newId() };
  return { ...ids, event_type: 'document.published', attempts: 1, lock_token: newId() };
}

/** As the driver says that it cannot reach a server. */
const down = Object.assign(new Error('down'), { name: 'MongoServerSelectionError' });

/** A database that refuses the first writes. */
function refusing(errors: unknown[], keepMs = 10_000) {
  const written: (readonly Outcome[])[] = [];
  const told: string[] = [];
  const recorder = createOutcomeWriter({
    queue: {
      async finish(batch) {
        const error = errors.shift();
        if (error) throw error;
        written.push(batch);
      },
    },
    retryForMs: keepMs,
    onError: (what) => told.push(what),
  });
  return { recorder, written, told };
}

test('outcomes recorded together are written in one batch', async () => {
  const { recorder, written } = refusing([]);
  const rows = [row(), row(), row()];
  await Promise.all(rows.map((one) => recorder.record(one, result)));
  expect(written.map((batch) => batch.map((one) => one.row))).toEqual([rows]);
  await recorder.record(row(), result);
  expect(written).toHaveLength(2);
});

test('a small batch waits for more outcomes and a full batch does not', async () => {
  const { recorder, written } = refusing([]);
  // timers go off in the order of their times, however late
  const early = recorder.record(row(), result);
  await pause(10);
  await Promise.all([early, recorder.record(row(), result)]);
  expect(written.map((batch) => batch.length)).toEqual([2]);

  const order: string[] = [];
  const many = Promise.all([1, 2, 3, 4].map(() => recorder.record(row(), result)));
  await Promise.all([many.then(() => order.push('many')), pause(12).then(() => order.push('12 ms'))]);
  expect(order).toEqual(['many', '12 ms']);
});

test('a flush writes a small batch without the extra wait', async () => {
  const { recorder, written } = refusing([]);
  const order: string[] = [];
  const one = recorder.record(row(), result);
  recorder.flush();
  const rested = Promise.all([one, recorder.idle()]).then(() => order.push('rested'));
  await Promise.all([rested, pause(12).then(() => order.push('12 ms'))]);
  expect([written.length, order]).toEqual([1, ['rested', '12 ms']]);
});

describe('while MongoDB is unavailable', () => {
  test('an outcome is retried until MongoDB is available', async () => {
    const { recorder, written, told } = refusing([down, down]);
    const first = row();
    await recorder.record(first, result);
    expect(written).toEqual([[{ row: first, result }]]);
    expect(told).toEqual([]);
  });

  test('an outcome is given up when the retry time is over', async () => {
    const { recorder, written, told } = refusing([down, down], 0);
    await recorder.record(row(), result);
    expect(written).toEqual([]);
    expect(told).toEqual(['Could not record the outcomes of 1 deliveries']);
  });

  test('a flush stops the retries', async () => {
    const { recorder, written, told } = refusing(Array(10_000).fill(down), 3_600_000);
    const recorded = recorder.record(row(), result);
    recorder.flush();
    await recorder.idle();
    await recorded;
    expect([written.length, told.length]).toEqual([0, 1]);
  });
});

test('an error that is not transient is reported and not retried', async () => {
  const { recorder, written, told } = refusing([new Error('no')]);
  await recorder.record(row(), result);
  expect([written.length, told.length]).toEqual([0, 1]);
  await recorder.record(row(), result);
  expect(written).toHaveLength(1);
});
