/** Outcomes on their way into the database, also while there is none. */
import { describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { recording } from './recording.ts';
import type { Claimed, Finished, Result } from './store/queue.ts';

const result: Result = { verdict: { status: 'delivered' }, http_status: 200, duration_ms: 1, error: null };

function row(): Claimed {
  const ids = { _id: newId(), event_id: newId(), config_id: newId(), organization_id: newId() };
  return { ...ids, event_type: 'document.published', attempts: 1, lock_token: newId() };
}

/** As the driver says that it cannot reach a server. */
const down = Object.assign(new Error('down'), { name: 'MongoServerSelectionError' });

/** A database that refuses the first writes. */
function refusing(errors: unknown[], keepMs = 10_000) {
  const written: (readonly Finished[])[] = [];
  const told: string[] = [];
  const recorder = recording({
    queue: {
      async finish(batch) {
        const error = errors.shift();
        if (error) throw error;
        written.push(batch);
      },
    },
    keepMs,
    trouble: (what) => told.push(what),
  });
  return { recorder, written, told };
}

test('outcomes that come together are written together, and each is told when it is', async () => {
  const { recorder, written } = refusing([]);
  const rows = [row(), row(), row()];
  await Promise.all(rows.map((one) => recorder.record(one, result)));
  expect(written.map((batch) => batch.map((one) => one.row))).toEqual([rows]);
  await recorder.record(row(), result);
  expect(written).toHaveLength(2);
});

describe('while there is no database', () => {
  test('an outcome is kept and written later', async () => {
    const { recorder, written, told } = refusing([down, down]);
    const first = row();
    await recorder.record(first, result);
    expect(written).toEqual([[{ row: first, result }]]);
    expect(told).toEqual([]);
  });

  test('it is given up when it is of no use any more', async () => {
    const { recorder, written, told } = refusing([down, down], 0);
    await recorder.record(row(), result);
    expect(written).toEqual([]);
    expect(told).toEqual(['Outcomes of 1 deliveries could not be recorded']);
  });

  test('a stop does not wait for it', async () => {
    const { recorder, written, told } = refusing(Array(10_000).fill(down), 3_600_000);
    const recorded = recorder.record(row(), result);
    recorder.hurry();
    await recorder.rest();
    await recorded;
    expect([written.length, told.length]).toEqual([0, 1]);
  });
});

test('a write that another try would not help is told and not repeated, and the next one goes on', async () => {
  const { recorder, written, told } = refusing([new Error('no')]);
  await recorder.record(row(), result);
  expect([written.length, told.length]).toEqual([0, 1]);
  await recorder.record(row(), result);
  expect(written).toHaveLength(1);
});
