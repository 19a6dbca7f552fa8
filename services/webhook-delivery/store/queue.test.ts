/** Tests the queue on a real MongoDB: claims, locks and recovery after a crash. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import type { Store } from '#libs/store';
import { openTestStore } from '../testing/store-fixture.ts';
import { type DeliveryRow, webhookDeliveries } from './collections.ts';
import { createNewDeliveries } from './new-deliveries.ts';
import { type AttemptResult, type ClaimedRow, createQueue, type Queue } from './queue.ts';

const lockMs = 3_600_000;
const everyShard = Array.from({ length: 16 }, (_, at) => at);
const delivered = {
  decision: { status: 'delivered' },
  http_status: 204,
  duration_ms: 5,
  error: null,
} as const;
const later = {
  decision: { status: 'pending', delayMs: 3_600_000 },
  http_status: 500,
  duration_ms: 5,
  error: 'status_500',
} as const;

let fixture: { store: Store; stop(): Promise<void> };
let deliveries: Queue;

beforeAll(async () => {
  fixture = await openTestStore();
  deliveries = createQueue(fixture.store, lockMs);
});
afterAll(() => fixture?.stop());
beforeEach(async () => {
  await fixture.store.rows(webhookDeliveries).deleteMany({});
});

/** Inserts one event for several webhooks and returns the row ids. `now` is the clock of the process. */
async function enqueue(configIds: readonly string[], now = () => new Date()): Promise<string[]> {
  const ids = { event_id: newId(), organization_id: newId(), document_id: null };
  const event = { ...ids, event_type: 'document.published', body: '{}' };
  const newDeliveries = createNewDeliveries(fixture.store, now, lockMs);
  const rows = await newDeliveries.insertEvent(event, configIds);
  const inserted = await newDeliveries.insertMissing(rows, { token: '', ids: new Set() });
  return inserted.map(({ _id }) => _id);
}

async function claimOne(): Promise<ClaimedRow> {
  const [claimed] = await deliveries.claim(await enqueue([newId()]), newId());
  if (!claimed) throw new Error('Nothing was claimed');
  return claimed;
}

async function findRow({ _id }: { _id: string }): Promise<DeliveryRow> {
  const row = await fixture.store.rows(webhookDeliveries).findOne({ _id }).lean();
  if (!row) throw new Error('The row does not exist');
  return row;
}

async function serverTime(): Promise<number> {
  const [{ now } = { now: new Date(Number.NaN) }] = await fixture.store
    .rows(webhookDeliveries)
    .aggregate<{ now: Date }>([{ $collStats: { count: {} } }, { $project: { now: '$$NOW' } }]);
  return now.getTime();
}

const dueIds = async (without: string[] = []) =>
  (await deliveries.findDue({ shards: everyShard, without, limit: 100 })).map(({ _id }) => _id);
const finish = (row: ClaimedRow, result: AttemptResult) => deliveries.finish([{ row, result }]);
const change = ({ _id }: { _id: string }, set: Partial<DeliveryRow>) =>
  fixture.store.rows(webhookDeliveries).updateOne({ _id }, set);
const abandon = (row: { _id: string }) => change(row, { locked_until: new Date(Date.now() - 1_000) });

test('a delivery can be inserted as claimed, with its first attempt counted', async () => {
  const newDeliveries = createNewDeliveries(fixture.store, () => new Date(), lockMs);
  const event = { event_id: newId(), organization_id: newId(), document_id: null };
  const body = { event_type: 'document.published', body: '{}' };
  const rows = await newDeliveries.insertEvent({ ...event, ...body }, [newId(), newId()]);
  const [claimed, due] = rows as [DeliveryRow, DeliveryRow];
  const before = await serverTime();
  await newDeliveries.insertMissing(rows, { token: 'token', ids: new Set([claimed._id]) });
  const row = await findRow(claimed);
  expect(row).toMatchObject({ status: 'pending', attempts: 1, lock_token: 'token' });
  expect(row.due_at).toBeUndefined();
  expect(row.locked_until?.getTime()).toBeGreaterThanOrEqual(before + lockMs);
  expect(await deliveries.claim([claimed._id, due._id], newId())).toMatchObject([{ _id: due._id }]);
});

test('a row is claimed by exactly one of several concurrent claims', async () => {
  const ids = await enqueue(Array.from({ length: 20 }, newId));
  const claims = await Promise.all(Array.from({ length: 8 }, () => deliveries.claim(ids, newId())));
  const claimed = claims.flat().map(({ _id }) => _id);
  expect(claimed.sort()).toEqual([...ids].sort());
});

test('a claimed row is not due, and the claim counts its attempt', async () => {
  const row = await claimOne();
  expect(await dueIds()).toEqual([]);
  expect(row.attempts).toBe(1);
  expect(await findRow(row)).toMatchObject({ status: 'pending', attempts: 1 });
});

test.each([-1, 1])('rows are due at once on the server clock, %i h from the process clock', async (h) => {
  const before = await serverTime();
  const ids = await enqueue([newId()], () => new Date(Date.now() + h * 3_600_000));
  expect(await dueIds()).toEqual(ids);
  const { due_at } = await findRow({ _id: ids[0] ?? '' });
  expect(due_at?.getTime()).toBeGreaterThanOrEqual(before);
});

test('rows due later and rows of excluded endpoints are not returned', async () => {
  const [busy, free] = [newId(), newId()];
  const ids = await enqueue([busy, free]);
  const postponed = await enqueue([newId()]);
  for (const _id of postponed) await change({ _id }, { due_at: new Date(Date.now() + 3_600_000) });
  expect((await dueIds()).sort()).toEqual([...ids].sort());
  expect(await dueIds([busy])).toHaveLength(1);
});

test('outcomes of a batch are recorded except for invalid claims', async () => {
  const claimed = await deliveries.claim(await enqueue([newId(), newId(), newId()]), newId());
  const [first, second, lost] = claimed as [ClaimedRow, ClaimedRow, ClaimedRow];
  await change(lost, { lock_token: newId() });
  const results = [delivered, { ...delivered, error: '$due_at' }, delivered];
  await deliveries.finish(
    [first, second, lost].map((row, at) => ({ row, result: results[at] ?? delivered })),
  );
  await deliveries.finish([]);
  expect(await findRow(first)).toMatchObject({ status: 'delivered', error: null });
  expect(await findRow(second)).toMatchObject({ status: 'delivered', error: '$due_at' });
  expect(await findRow(lost)).toMatchObject({ status: 'pending' });
});

test('a row is never claimed for a fourth attempt', async () => {
  const [_id = ''] = await enqueue([newId()]);
  await change({ _id }, { attempts: 3 });
  expect(await deliveries.claim([_id], newId())).toEqual([]);
  expect(await findRow({ _id })).toMatchObject({ attempts: 3 });
});

test('an outcome without a request uses no attempt and is not reported', async () => {
  const row = await claimOne();
  const failed = { decision: { status: 'failed' }, http_status: null, duration_ms: null } as const;
  await finish(row, { ...failed, error: 'webhook_deleted' });
  const after = await findRow(row);
  expect(after).toMatchObject({ status: 'failed', attempts: 0, error: 'webhook_deleted' });
  expect(after).not.toHaveProperty('notification_pending');
});

test('finish records the outcome and unlocks the row', async () => {
  const row = await claimOne();
  await finish(row, delivered);
  const after = await findRow(row);
  expect(after).toMatchObject({ status: 'delivered', attempts: 1, http_status: 204, error: null });
  expect(after).not.toHaveProperty('lock_token');
  expect(after).not.toHaveProperty('due_at');
});

test('a retry is due when its delay is over', async () => {
  const row = await claimOne();
  const before = Date.now();
  await finish(row, later);
  const after = await findRow(row);
  expect(after).toMatchObject({ status: 'pending', error: 'status_500' });
  expect(after.due_at?.getTime()).toBeGreaterThan(before + 3_500_000);
  expect(await dueIds()).toEqual([]);
});

test('finish and release do nothing after the claim was lost', async () => {
  const row = await claimOne();
  await abandon(row);
  await deliveries.sweep();
  const [secondClaim] = await deliveries.claim([row._id], newId());
  expect(secondClaim).toBeDefined();
  await finish(row, delivered);
  await deliveries.release([row._id], row.lock_token);
  const lock = { attempts: 2, lock_token: secondClaim?.lock_token };
  expect(await findRow(row)).toMatchObject({ status: 'pending', ...lock });
});

test('a released row is due at once and loses no attempt', async () => {
  const row = await claimOne();
  await deliveries.release([row._id], row.lock_token);
  await deliveries.release([row._id], row.lock_token);
  expect(await dueIds()).toEqual([row._id]);
  expect(await findRow(row)).toMatchObject({ attempts: 0 });
});

test('the sweep unlocks only rows whose lock has expired', async () => {
  const [abandoned, locked] = [await claimOne(), await claimOne()];
  await abandon(abandoned);
  await deliveries.sweep();
  expect(await dueIds()).toEqual([abandoned._id]);
  expect(await findRow(locked)).toMatchObject({ lock_token: locked.lock_token });
});

test('a row that three processes claimed before they died fails', async () => {
  const row = await claimOne();
  for (const attempts of [2, 3]) {
    await abandon(row);
    await deliveries.sweep();
    expect(await deliveries.claim([row._id], newId())).toMatchObject([{ attempts }]);
  }
  await abandon(row);
  await deliveries.sweep();
  expect(await findRow(row)).toMatchObject({
    ...{ status: 'failed', attempts: 3, error: 'interrupted' },
    notification_pending: true,
  });
  expect(await dueIds()).toEqual([]);
});

test('a row fails if its last lock expires during a sweep', async () => {
  const row = await claimOne();
  await change(row, { attempts: 3 });
  const store = afterFirstUpdate(async () => void (await abandon(row)));
  expect(await createQueue(store, lockMs).sweep()).toBe(0);
  expect(await deliveries.sweep()).toBe(1);
  expect(await findRow(row)).toMatchObject({ status: 'failed', attempts: 3, error: 'interrupted' });
  expect(await dueIds()).toEqual([]);
});

/** Returns a store that runs `work` after its first update of many deliveries. */
function afterFirstUpdate(work: () => Promise<void>): Store {
  let hasRun = false;
  const model = fixture.store.rows(webhookDeliveries);
  const updateMany = async (...args: Parameters<typeof model.updateMany>) => {
    const result = await model.updateMany(...args);
    if (!hasRun) await work();
    hasRun = true;
    return result;
  };
  const rows = new Proxy(model, {
    get: (target, name) => (name === 'updateMany' ? updateMany : Reflect.get(target, name)),
  });
  return new Proxy(fixture.store, {
    get: (target, name) => (name === 'rows' ? () => rows : Reflect.get(target, name)),
  });
}

test('the backlog counts due rows, and knows the oldest of all shards', async () => {
  expect([await deliveries.countDue(), await deliveries.getOldestDueSeconds()]).toEqual([0, 0]);
  const ids = await enqueue(Array.from({ length: 20 }, newId));
  const rows = fixture.store.rows(webhookDeliveries);
  const anHourAgo = new Date((await serverTime()) - 3_600_000);
  await rows.updateMany({ _id: { $in: ids } }, { shard: 0 });
  await rows.updateOne({ _id: ids[0] ?? '' }, { shard: 15, due_at: anHourAgo });
  await rows.updateOne({ _id: ids[1] ?? '' }, { due_at: new Date(anHourAgo.getTime() + 7_200_000) });
  expect(await deliveries.countDue()).toBe(19);
  expect(await deliveries.getOldestDueSeconds()).toBeGreaterThanOrEqual(3_600);
});

test('finding the oldest due row reads one row', async () => {
  await enqueue(Array.from({ length: 50 }, newId));
  const query = await profile(() => deliveries.getOldestDueSeconds());
  expect(query).toMatchObject({ docsExamined: 1 });
  expect(query?.keysExamined).toBeLessThanOrEqual(32);
});

test('finding due rows reads only index entries of due rows', async () => {
  await enqueue([newId()]);
  const laterIds = await enqueue(Array.from({ length: 50 }, newId));
  const rows = fixture.store.rows(webhookDeliveries);
  await rows.updateMany({ _id: { $in: laterIds } }, { due_at: new Date(Date.now() + 3_600_000) });
  const query = await profile(() => deliveries.findDue({ shards: everyShard, without: [], limit: 100 }));
  expect(query).toMatchObject({ docsExamined: 1, nreturned: 1 });
  expect(query?.keysExamined).toBeLessThanOrEqual(32);
});

/** Returns what MongoDB did for the query of `work`. */
async function profile(work: () => Promise<unknown>) {
  const { db } = fixture.store.rows(webhookDeliveries);
  await db.db?.command({ profile: 0 });
  await db.dropCollection('system.profile').catch(() => undefined);
  await db.db?.command({ profile: 2 });
  await work();
  await db.db?.command({ profile: 0 });
  return db
    .collection('system.profile')
    .findOne({ ns: /webhook_deliveries$/, op: { $in: ['query', 'command'] } });
}
