/** The queue on a real MongoDB: what a claim is worth, and what is left of it when a process dies. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import type { Store } from '#libs/store';
import { until } from '#libs/testing';
import { openTestStore } from '../testing/store-fixture.ts';
import { type DeliveryRow, webhookDeliveries } from './collections.ts';
import { createEventLog } from './log.ts';
import { type AttemptResult, type ClaimedRow, createQueue, type Queue } from './queue.ts';
import type { Lease } from './update-pipelines.ts';

const lockMs = 30_000;
const everyShard = Array.from({ length: 16 }, (_, at) => at);
const delivered = {
  decision: { status: 'delivered' },
  http_status: 204,
  duration_ms: 5,
  error: null,
} as const;
const later = {
  decision: { status: 'pending', delayMs: 60_000 },
  http_status: 500,
  duration_ms: 5,
  error: 'status_500',
} as const;

let own: { store: Store; stop(): Promise<void> };
let deliveries: Queue;

beforeAll(async () => {
  own = await openTestStore();
  deliveries = createQueue(own.store, lockMs);
}, 60_000);
afterAll(() => own?.stop());
beforeEach(async () => {
  await own.store.rows(webhookDeliveries).deleteMany({});
});

/** Enqueues one event for several webhooks, by a process of which `now` is the clock, and gives the rows' ids. */
async function enqueued(
  configIds: readonly string[],
  { inHand, now }: { inHand?: Lease; now?: () => Date } = {},
): Promise<string[]> {
  const [event_id, organization_id] = [newId(), newId()];
  const telling = {
    event_id,
    event_type: 'document.published',
    organization_id,
    document_id: null,
    body: '{}',
  };
  const log = createEventLog(own.store, now ?? (() => new Date()));
  const receivers = configIds.map((id) => ({ id }));
  await log.enqueueOnce(telling, receivers, (drafts) => {
    const ids = new Set(drafts.map(({ row }) => row._id));
    return inHand && { ...inHand, ids };
  });
  return (await own.store.rows(webhookDeliveries).find({ event_id }, { _id: 1 }).lean()).map(
    ({ _id }) => _id,
  );
}

async function claimedOne(): Promise<ClaimedRow> {
  const [claimed] = await deliveries.claim(await enqueued([newId()]), newId());
  if (!claimed) throw new Error('Nothing was claimed');
  return claimed;
}

async function rowOf({ _id }: { _id: string }): Promise<DeliveryRow> {
  const row = await own.store.rows(webhookDeliveries).findOne({ _id }).lean();
  if (!row) throw new Error('The row is gone');
  return row;
}

async function serverTime(): Promise<number> {
  const [{ now } = { now: new Date(Number.NaN) }] = await own.store
    .rows(webhookDeliveries)
    .aggregate<{ now: Date }>([{ $collStats: { count: {} } }, { $project: { now: '$$NOW' } }]);
  return now.getTime();
}

const dueIds = async (without: string[] = []) =>
  (await deliveries.findDue({ shards: everyShard, without, limit: 100 })).map(({ _id }) => _id);
const count = async (row: ClaimedRow) => (await deliveries.countAttempts([row]))[0];
const finish = (row: ClaimedRow, result: AttemptResult) => deliveries.finish([{ row, result }]);
const change = ({ _id }: { _id: string }, set: Partial<DeliveryRow>) =>
  own.store.rows(webhookDeliveries).updateOne({ _id }, set);
const abandon = (row: { _id: string }) => change(row, { locked_until: new Date(Date.now() - 1_000) });

test('a row is claimed by exactly one of several concurrent claims', async () => {
  const ids = await enqueued(Array.from({ length: 20 }, newId));
  const claims = await Promise.all(Array.from({ length: 8 }, () => deliveries.claim(ids, newId())));
  const claimed = claims.flat().map(({ _id }) => _id);
  expect(claimed.sort()).toEqual([...ids].sort());
});

test('a claimed row is not due, and the claim counts no attempt', async () => {
  const row = await claimedOne();
  expect(await dueIds()).toEqual([]);
  expect(await rowOf(row)).toMatchObject({ status: 'pending', attempts: 0 });
});

test.each([-1, 1])('rows are due at once on the server clock, %i h from the process clock', async (h) => {
  const before = await serverTime();
  const ids = await enqueued([newId()], { now: () => new Date(Date.now() + h * 3_600_000) });
  expect(await dueIds()).toEqual(ids);
  const { due_at } = await rowOf({ _id: ids[0] ?? '' });
  expect(due_at?.getTime()).toBeGreaterThanOrEqual(before);
});

test('a row inserted as leased is not due, and its outcome is recorded', async () => {
  const inHand = { token: newId(), lockMs, ids: new Set<string>() };
  const [_id = ''] = await enqueued([newId()], { inHand });
  expect(await dueIds()).toEqual([]);
  expect(await deliveries.claim([_id], newId())).toEqual([]);
  await deliveries.sweep();
  const row = await rowOf({ _id });
  expect(row).toMatchObject({ status: 'pending', attempts: 1, lock_token: inHand.token });
  await finish({ ...row, lock_token: inHand.token }, delivered);
  expect(await rowOf(row)).toMatchObject({ status: 'delivered', attempts: 1 });
});

test('a row inserted as leased by a process that died is due again', async () => {
  const ids = await enqueued([newId()], { inHand: { token: newId(), lockMs: 1, ids: new Set() } });
  await until('the end of its lock', async () => {
    await deliveries.sweep();
    return (await dueIds()).length > 0;
  });
  expect(await dueIds()).toEqual(ids);
});

test('rows due later and rows of excluded endpoints are not returned', async () => {
  const [busy, free] = [newId(), newId()];
  const ids = await enqueued([busy, free]);
  const postponed = await enqueued([newId()]);
  for (const _id of postponed) await change({ _id }, { due_at: new Date(Date.now() + 60_000) });
  expect((await dueIds()).sort()).toEqual([...ids].sort());
  expect(await dueIds([busy])).toHaveLength(1);
});

test('an attempt is counted once per claim', async () => {
  const row = await claimedOne();
  expect(await count({ ...row, lock_token: newId() })).toBeUndefined();
  expect(await count(row)).toMatchObject({ _id: row._id, attempts: 1 });
  expect(await count(row)).toBeUndefined();
  expect(await rowOf(row)).toMatchObject({ attempts: 1 });
});

test('a batch is counted except for rows with an invalid claim', async () => {
  const claimed = await deliveries.claim(await enqueued([newId(), newId(), newId()]), newId());
  const [first, second, lost] = claimed as [ClaimedRow, ClaimedRow, ClaimedRow];
  await change(second, { attempts: 1 });
  await change(lost, { lock_token: newId() });
  const counted = await deliveries.countAttempts([first, { ...second, attempts: 1 }, lost]);
  expect(counted.map(({ _id }) => _id).sort()).toEqual([first._id, second._id].sort());
  expect(await rowOf(first)).toMatchObject({ attempts: 1 });
  expect(await rowOf(second)).toMatchObject({ attempts: 2 });
  expect(await rowOf(lost)).toMatchObject({ attempts: 0 });
});

test('outcomes of a batch are recorded except for invalid claims', async () => {
  const claimed = await deliveries.claim(await enqueued([newId(), newId(), newId()]), newId());
  const [first, second, lost] = claimed as [ClaimedRow, ClaimedRow, ClaimedRow];
  await change(lost, { lock_token: newId() });
  const results = [delivered, { ...delivered, error: '$due_at' }, delivered];
  await deliveries.finish(
    [first, second, lost].map((row, at) => ({ row, result: results[at] ?? delivered })),
  );
  await deliveries.finish([]);
  expect(await rowOf(first)).toMatchObject({ status: 'delivered', error: null });
  expect(await rowOf(second)).toMatchObject({ status: 'delivered', error: '$due_at' });
  expect(await rowOf(lost)).toMatchObject({ status: 'pending' });
});

test('a fourth attempt is never counted', async () => {
  const row = await claimedOne();
  await change(row, { attempts: 3 });
  expect(await count({ ...row, attempts: 3 })).toBeUndefined();
});

test('finish records the outcome and unlocks the row', async () => {
  const row = await claimedOne();
  await finish((await count(row)) ?? row, delivered);
  const after = await rowOf(row);
  expect(after).toMatchObject({ status: 'delivered', http_status: 204, duration_ms: 5, error: null });
  expect(after).not.toHaveProperty('lock_token');
  expect(after).not.toHaveProperty('due_at');
});

test('a retry is due when its delay is over', async () => {
  const row = await claimedOne();
  await finish(row, later);
  const after = await rowOf(row);
  expect(after).toMatchObject({ status: 'pending', error: 'status_500' });
  expect(after.due_at?.getTime()).toBeGreaterThan(Date.now() + 50_000);
  expect(await dueIds()).toEqual([]);
});

test('finish and release do nothing after the claim was lost', async () => {
  const row = await claimedOne();
  await abandon(row);
  await deliveries.sweep();
  const [again] = await deliveries.claim([row._id], newId());
  expect(again).toBeDefined();
  await finish(row, delivered);
  await deliveries.release([row]);
  expect(await rowOf(row)).toMatchObject({ status: 'pending', lock_token: again?.lock_token });
});

test('a released row is due at once and keeps its attempts', async () => {
  const row = await claimedOne();
  await deliveries.release([row]);
  expect(await dueIds()).toEqual([row._id]);
  expect(await rowOf(row)).toMatchObject({ attempts: 0 });
});

test('the sweep unlocks only rows whose lock has expired', async () => {
  const [dead, alive] = [await claimedOne(), await claimedOne()];
  await abandon(dead);
  await deliveries.sweep();
  expect(await dueIds()).toEqual([dead._id]);
  expect(await rowOf(alive)).toMatchObject({ lock_token: alive.lock_token });
});

test('crashes before counting use no attempt, three after it fail the row', async () => {
  const row = await claimedOne();
  for (let crash = 0; crash < 3; crash += 1) {
    await abandon(row);
    await deliveries.sweep();
    await deliveries.claim([row._id], newId());
  }
  expect(await rowOf(row)).toMatchObject({ status: 'pending', attempts: 0 });
  for (let crash = 0; crash < 3; crash += 1) {
    await abandon(row);
    await deliveries.sweep();
    const [claimed] = await deliveries.claim([row._id], newId());
    expect(claimed && (await count(claimed))).toBeDefined();
  }
  await abandon(row);
  await deliveries.sweep();
  expect(await rowOf(row)).toMatchObject({
    ...{ status: 'failed', attempts: 3, error: 'interrupted' },
    notification_pending: true,
  });
  expect(await dueIds()).toEqual([]);
});

test('finding due rows reads only index entries of due rows', async () => {
  await enqueued([newId()]);
  const waiting = await enqueued(Array.from({ length: 50 }, newId));
  const rows = own.store.rows(webhookDeliveries);
  await rows.updateMany({ _id: { $in: waiting } }, { due_at: new Date(Date.now() + 60_000) });
  await own.store.rows(webhookDeliveries).db.db?.command({ profile: 2 });
  await deliveries.findDue({ shards: everyShard, without: [], limit: 100 });
  await own.store.rows(webhookDeliveries).db.db?.command({ profile: 0 });
  const profile = own.store.rows(webhookDeliveries).db.collection('system.profile');
  const seen = await profile.findOne({ ns: /webhook_deliveries$/, op: 'query' });
  expect(seen).toMatchObject({ docsExamined: 1, nreturned: 1 });
  expect(seen?.keysExamined).toBeLessThanOrEqual(32);
});
