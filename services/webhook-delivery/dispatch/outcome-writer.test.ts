/** Tests how outcomes are batched, and retried while MongoDB is unavailable. */
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import type { AttemptResult, ClaimedRow, Outcome } from '../store/queue.ts';
import { createOutcomeWriter } from './outcome-writer.ts';

const result: AttemptResult = {
  decision: { status: 'delivered' },
  http_status: 200,
  duration_ms: 1,
  error: null,
};

function createRow(): ClaimedRow {
  const ids = { _id: newId(), event_id: newId(), config_id: newId(), organization_id: newId() };
  return { ...ids, event_type: 'document.published', attempts: 1, lock_token: newId() };
}

/** The driver's error when no server is reachable. */
const down = Object.assign(new Error('down'), { name: 'MongoServerSelectionError' });

/** Creates a writer whose first writes fail with `errors`. */
function createFakes(errors: unknown[], keepMs = 3_600_000) {
  const written: (readonly Outcome[])[] = [];
  const messages: string[] = [];
  const writer = createOutcomeWriter({
    queue: {
      async finish(batch) {
        const error = errors.shift();
        if (error) throw error;
        written.push(batch);
      },
    },
    retryForMs: keepMs,
    onError: (message) => messages.push(message),
  });
  return { writer, written, messages };
}

test('outcomes recorded together are written in one batch', async () => {
  const { writer, written } = createFakes([]);
  const rows = [createRow(), createRow(), createRow()];
  await Promise.all(rows.map((outcome) => writer.record(outcome, result)));
  expect(written.map((batch) => batch.map((outcome) => outcome.row))).toEqual([rows]);
  await writer.record(createRow(), result);
  expect(written).toHaveLength(2);
});

test('a small batch waits for more outcomes and a full batch does not', async () => {
  const { writer, written } = createFakes([]);
  // timers fire in the order of their times, even if they are late
  const early = writer.record(createRow(), result);
  await pause(10);
  await Promise.all([early, writer.record(createRow(), result)]);
  expect(written.map((batch) => batch.length)).toEqual([2]);

  const order: string[] = [];
  const many = Promise.all([1, 2, 3, 4].map(() => writer.record(createRow(), result)));
  await Promise.all([many.then(() => order.push('many')), pause(12).then(() => order.push('12 ms'))]);
  expect(order).toEqual(['many', '12 ms']);
});

test('a flush writes a small batch without the extra wait', async () => {
  const { writer, written } = createFakes([]);
  const order: string[] = [];
  const outcome = writer.record(createRow(), result);
  writer.flush();
  const idle = Promise.all([outcome, writer.idle()]).then(() => order.push('rested'));
  await Promise.all([idle, pause(12).then(() => order.push('12 ms'))]);
  expect([written.length, order]).toEqual([1, ['rested', '12 ms']]);
});

describe('while MongoDB is unavailable', () => {
  test('an outcome is retried until MongoDB is available', async () => {
    const { writer, written, messages } = createFakes([down, down]);
    const first = createRow();
    await writer.record(first, result);
    expect(written).toEqual([[{ row: first, result }]]);
    expect(messages).toEqual([]);
  });

  test('an outcome is given up when the retry time is over', async () => {
    const { writer, written, messages } = createFakes([down, down], 0);
    await writer.record(createRow(), result);
    expect(written).toEqual([]);
    expect(messages).toEqual(['Could not record the outcomes of 1 deliveries']);
  });

  test('a flush stops the retries', async () => {
    const { writer, written, messages } = createFakes(Array(10_000).fill(down), 3_600_000);
    const recorded = writer.record(createRow(), result);
    writer.flush();
    await writer.idle();
    await recorded;
    expect([written.length, messages.length]).toEqual([0, 1]);
  });
});

test('an error that is not transient is reported and not retried', async () => {
  const { writer, written, messages } = createFakes([new Error('no')]);
  await writer.record(createRow(), result);
  expect([written.length, messages.length]).toEqual([0, 1]);
  await writer.record(createRow(), result);
  expect(written).toHaveLength(1);
});
