/** Tests of views, and of queries for undeclared fields. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { view } from '#libs/contract';
import { decodeRow, type Store } from '#libs/store';
import {
  createActor,
  createThing,
  type StoreFixture,
  storeFixture,
  thingProducers,
  thingSummaries,
  things,
} from '../testing/store-fixture.ts';

let fixture: StoreFixture;
let store: Store;
const ada = createActor();
const bob = createActor();

beforeAll(async () => {
  fixture = await storeFixture();
  store = await fixture.open();
  for (const [actor, name] of [
    [ada, 'a'],
    [ada, 'b'],
    [bob, 'c'],
  ] as const)
    await createThing(store, actor, name);
  await fixture.db.collection('things').updateMany({}, { $set: { secret: 'hush' } });
});
afterAll(() => fixture?.stop());

const widened = view({
  ...thingSummaries,
  scope: 'organization_id',
  row: z.object({ ...thingSummaries.row.shape, secret: z.string() }),
});
const narrowed = view({
  name: 'thing_names',
  collection: 'things',
  scope: null,
  unscopedReason: 'a name is no secret',
  row: z.object({ name: z.string() }),
});

test('a view has only the fields that its contract lists', async () => {
  const row = await store.read(thingSummaries).in(ada.organization_id).one({ name: 'a' });
  expect(Object.keys(row ?? {}).sort()).toEqual(['_id', 'name', 'organization_id']);
  const other = await fixture.open({ contract: { ...thingProducers, views: [thingSummaries, narrowed] } });
  expect(
    (
      await other
        .read(narrowed)
        .unscoped()
        .many({}, { sort: { name: 1 } })
    )[0],
  ).toEqual({ name: 'a' });
});

test('a reader returns only rows of its scope for any filter', async () => {
  const summaries = store.read(thingSummaries).in(ada.organization_id);
  const names = (await summaries.many({}, { sort: { name: -1 }, limit: 5 })).map(({ name }) => name);
  expect(names).toEqual(['b', 'a']);
  expect(await summaries.one({ name: 'c' })).toBeUndefined();
  expect(await summaries.many({ organization_id: bob.organization_id, name: 'c' })).toEqual([]);
  expect(await summaries.many({ $or: [{ name: 'c' }, { organization_id: bob.organization_id }] })).toEqual(
    [],
  );
});

test('bytes returns the same rows as many', async () => {
  const read = store.read(thingSummaries).in(ada.organization_id);
  const bytes = await read.bytes({});
  expect(bytes.map((row) => decodeRow(row))).toEqual(await read.many({}));
  expect(await read.bytes({ name: 'c' })).toEqual([]);
});

test('reading without a valid scope throws', () => {
  const summaries = store.read(thingSummaries);
  expect(() => summaries.unscoped()).toThrow('thing_summaries must be read by organization_id');
  for (const invalid of [undefined, null, '', { $ne: null }])
    expect(() => summaries.in(invalid as unknown as string)).toThrow('which is missing');
  expect(() => store.read(narrowed).in('x')).toThrow('thing_names has no scope');
});

test('declaring a view with a scope that is not one of its fields throws', () => {
  expect(() =>
    view({ name: 'x', collection: 'things', scope: 'organization_id', row: z.object({ name: z.string() }) }),
  ).toThrow('organization_id');
});

test('migrate updates a view if its contract has changed', async () => {
  const changed = await fixture.open({ contract: { ...thingProducers, views: [widened] } });
  const row = await changed.read(widened).in(ada.organization_id).one({ name: 'a' });
  expect(row).toHaveProperty('secret', 'hush');
  const back = await fixture.open();
  expect(await back.read(thingSummaries).in(ada.organization_id).one({ name: 'a' })).not.toHaveProperty(
    'secret',
  );
});

test('migrate can be repeated and run by five processes at once', async () => {
  const other = await storeFixture(fixture.uri);
  try {
    await Promise.all(Array.from({ length: 5 }, () => other.open()));
    const again = await other.open();
    await again.migrate();
    const names = (await other.db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name);
    const own = [
      'thing_summaries',
      'things',
      'thing_producers_idempotency',
      'thing_producers_inbox',
      'thing_producers_locks',
      'thing_producers_outbox',
    ];
    expect(names.filter((name) => !name.startsWith('system.')).sort()).toEqual(own.sort());
    const indexes = await other.db.collection('things').indexes();
    expect(indexes.map(({ key }) => key)).toEqual([{ _id: 1 }, { organization_id: 1, name: 1 }]);
  } finally {
    await other.stop();
  }
});

test('missingViews returns the names of views that do not exist yet', async () => {
  const absent = { ...narrowed, name: 'not_yet' };
  const reader = await fixture.open({ contract: { ...thingProducers, reads: [thingSummaries, absent] } });
  expect(await reader.missingViews()).toEqual(['not_yet']);
});

test('a query or write with an undeclared field throws', async () => {
  const rows = store.rows(things);
  const undeclared = { tenant: 'x' } as object;
  await expect(rows.find(undeclared).lean()).rejects.toThrow('tenant');
  await expect(rows.findOne({ $or: [{ name: 'a' }, undeclared] }).lean()).rejects.toThrow('tenant');
  await expect(rows.countDocuments(undeclared)).rejects.toThrow('tenant');
  await expect(rows.deleteMany(undeclared)).rejects.toThrow('tenant');
  await expect(rows.updateMany({}, undeclared)).rejects.toThrow('tenant');
  await expect(
    rows.insertMany([{ _id: 'x', organization_id: 'o', name: 'n', ...undeclared }]),
  ).rejects.toThrow('tenant');
});
