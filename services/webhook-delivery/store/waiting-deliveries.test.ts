/** Tests on a real MongoDB which due times a postponement changes. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import type { Store } from '#libs/store';
import { enqueueDeliveries } from '../testing/backlog.ts';
import { openTestStore } from '../testing/store-fixture.ts';
import { type DeliveryRow, webhookDeliveries } from './collections.ts';
import { createQueue, type Queue } from './queue.ts';
import { createWaitingDeliveries, type WaitingDeliveries } from './waiting-deliveries.ts';

const minute = 60_000;
const everyShard = Array.from({ length: 16 }, (_, at) => at);

let fixture: { store: Store; stop(): Promise<void> };
let deliveries: Queue;
let waiting: WaitingDeliveries;

beforeAll(async () => {
  fixture = await openTestStore();
  deliveries = createQueue(fixture.store, 30_000);
  waiting = createWaitingDeliveries(fixture.store);
});
afterAll(() => fixture?.stop());

const rows = () => fixture.store.rows(webhookDeliveries);

/** Inserts rows for a new webhook that are due at `due`. */
async function createDue(count: number, due: Date): Promise<{ hook: string; rows: DeliveryRow[] }> {
  const hook = { id: newId(), organization_id: newId() };
  const { db } = rows().db;
  if (!db) throw new Error('The database is not connected');
  await enqueueDeliveries(db, [hook], count, due);
  return { hook: hook.id, rows: await findRows(hook.id) };
}

const findRows = (config_id: string) => rows().find({ config_id }).lean();
const inMs = (ms: number) => new Date(Date.now() + ms);

test('postponed rows are due after the pause and not found before it', async () => {
  const { hook } = await createDue(20, inMs(-minute));
  const other = await createDue(1, inMs(-minute));
  const before = Date.now();
  await waiting.postpone(hook, 10 * minute);
  for (const row of await findRows(hook)) {
    expect(row).toMatchObject({ status: 'pending', attempts: 0, postponed: true });
    expect(row.due_at?.getTime()).toBeGreaterThan(before + 9 * minute);
    expect(row.due_at?.getTime()).toBeLessThan(Date.now() + 13 * minute);
  }
  const due = await deliveries.findDue({ shards: everyShard, without: [], limit: 100 });
  expect(due.map(({ config_id }) => config_id)).toEqual([other.hook]);
});

test('leased rows and rows waiting for a retry are not postponed', async () => {
  const { hook, rows: created } = await createDue(2, inMs(-minute));
  const [retried, leased] = created as [DeliveryRow, DeliveryRow];
  await rows().updateOne({ _id: retried._id }, { due_at: inMs(30 * minute), attempts: 2 });
  await deliveries.claim([leased._id], newId());
  const before = await findRows(hook);
  await waiting.postpone(hook, minute);
  await waiting.resume(hook);
  expect(await findRows(hook)).toEqual(before);
});

test('resumed rows are due within seconds, at different times', async () => {
  const { hook } = await createDue(20, inMs(-minute));
  await waiting.postpone(hook, 10 * minute);
  await waiting.resume(hook);
  const resumed = await findRows(hook);
  const times = resumed.map(({ due_at }) => due_at?.getTime() ?? 0);
  expect(Math.max(...times)).toBeLessThan(Date.now() + 6_000);
  expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(500);
  expect(resumed.some((row) => 'postponed' in row)).toBe(false);
});

test('a claim ends the postponement, so its retry delay is not shortened', async () => {
  const { hook, rows: created } = await createDue(1, inMs(-minute));
  await waiting.postpone(hook, minute);
  await rows().updateOne({ config_id: hook }, { due_at: inMs(-1) });
  const [claimed] = await deliveries.claim([created[0]?._id ?? ''], newId());
  if (!claimed) throw new Error('Nothing was claimed');
  const response = { http_status: null, duration_ms: 1, error: 'timeout' };
  const result = { decision: { status: 'pending', delayMs: 30 * minute } as const, ...response };
  const before = Date.now();
  await deliveries.finish([{ row: claimed, result }]);
  await waiting.resume(hook);
  const [row] = await findRows(hook);
  expect(row?.due_at?.getTime()).toBeGreaterThan(before + 29 * minute);
});

test('rows older than a day fail with a notification, younger ones wait', async () => {
  const { hook, rows: created } = await createDue(2, inMs(-minute));
  await rows().updateOne({ _id: created[0]?._id ?? '' }, { created_at: inMs(-25 * 60 * minute) });
  await waiting.postpone(hook, minute);
  const after = await findRows(hook);
  const failed = after.filter(({ status }) => status === 'failed');
  expect(failed).toMatchObject([{ _id: created[0]?._id, error: 'endpoint_unavailable', attempts: 0 }]);
  expect(failed[0]).not.toHaveProperty('due_at');
  expect(after.map(({ status, notification_pending }) => [status, notification_pending]).sort()).toEqual([
    ['failed', true],
    ['pending', undefined],
  ]);
  expect(after.filter(({ status }) => status === 'pending')).toHaveLength(1);
});
