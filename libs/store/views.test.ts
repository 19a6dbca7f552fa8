/** What others may read, and what a service may ask of its own collections. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import { z } from 'zod';
import { view } from '#libs/contract';
import type { Store } from '#libs/store';
import {
  createActor,
  createThing,
  type StoreFixture,
  storeFixture,
  thingProducers,
  thingSummaries,
  things,
} from '../testing/store-fixture.ts';

let stage: StoreFixture;
let store: Store;
const ada = createActor();
const bob = createActor();

beforeAll(async () => {
  stage = await storeFixture();
  store = await stage.open();
  for (const [who, name] of [
    [ada, 'a'],
    [ada, 'b'],
    [bob, 'c'],
  ] as const)
    await createThing(store, who, name);
  await stage.db.collection('things').updateMany({}, { $set: { secret: 'hush' } });
}, 60_000);
afterAll(() => stage?.stop());

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

test('a view shows the fields that its contract names, and no other', async () => {
  const row = await store.read(thingSummaries).in(ada.organization_id).one({ name: 'a' });
  expect(Object.keys(row ?? {}).sort()).toEqual(['_id', 'name', 'organization_id']);
  const other = await stage.open({ contract: { ...thingProducers, views: [thingSummaries, narrowed] } });
  expect(
    (
      await other
        .read(narrowed)
        .unscoped()
        .many({}, { sort: { name: 1 } })
    )[0],
  ).toEqual({ name: 'a' });
});

test('a reader gets the rows of its scope, whatever it asks for', async () => {
  const faces = store.read(thingSummaries).in(ada.organization_id);
  const names = (await faces.many({}, { sort: { name: -1 }, limit: 5 })).map(({ name }) => name);
  expect(names).toEqual(['b', 'a']);
  expect(await faces.one({ name: 'c' })).toBeUndefined();
  expect(await faces.many({ organization_id: bob.organization_id, name: 'c' })).toEqual([]);
  expect(await faces.many({ $or: [{ name: 'c' }, { organization_id: bob.organization_id }] })).toEqual([]);
});

test('rows as bytes are the same rows, those of the scope and nothing else', async () => {
  const read = store.read(thingSummaries).in(ada.organization_id);
  const bytes = await read.bytes({});
  expect(bytes.map((row) => mongoose.mongo.BSON.deserialize(row))).toEqual(await read.many({}));
  expect(await read.bytes({ name: 'c' })).toEqual([]);
});

test('reading without a scope throws, also when the scope got lost on the way', () => {
  const faces = store.read(thingSummaries);
  expect(() => faces.unscoped()).toThrow('thing_faces is read by organization_id');
  for (const lost of [undefined, null, '', { $ne: null }])
    expect(() => faces.in(lost as unknown as string)).toThrow('there is none');
  expect(() => store.read(narrowed).in('x')).toThrow('thing_names has no scope');
});

test('a view cannot be declared with a scope that it does not show', () => {
  expect(() =>
    view({ name: 'x', collection: 'things', scope: 'organization_id', row: z.object({ name: z.string() }) }),
  ).toThrow('organization_id');
});

test('prepare brings a view up to date when its contract has changed', async () => {
  const changed = await stage.open({ contract: { ...thingProducers, views: [widened] } });
  const row = await changed.read(widened).in(ada.organization_id).one({ name: 'a' });
  expect(row).toHaveProperty('secret', 'hush');
  const back = await stage.open();
  expect(await back.read(thingSummaries).in(ada.organization_id).one({ name: 'a' })).not.toHaveProperty(
    'secret',
  );
});

test('prepare may be repeated, and run by several processes at once', async () => {
  const mine = await storeFixture(stage.uri);
  try {
    await Promise.all(Array.from({ length: 5 }, () => mine.open()));
    const again = await mine.open();
    await again.migrate();
    const names = (await mine.db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name);
    const own = [
      'thing_faces',
      'things',
      'thing_makers_idempotency',
      'thing_makers_inbox',
      'thing_makers_outbox',
    ];
    expect(names.filter((name) => !name.startsWith('system.')).sort()).toEqual(own.sort());
    const indexes = await mine.db.collection('things').indexes();
    expect(indexes.map(({ key }) => key)).toEqual([{ _id: 1 }, { organization_id: 1, name: 1 }]);
  } finally {
    await mine.stop();
  }
});

test('views of others that are not there yet are named', async () => {
  const absent = { ...narrowed, name: 'not_yet' };
  const reader = await stage.open({ contract: { ...thingProducers, reads: [thingSummaries, absent] } });
  expect(await reader.missingViews()).toEqual(['not_yet']);
});

test('a query for a field that a collection does not have throws', async () => {
  const rows = store.rows(things);
  const nobody = { tenant: 'x' } as object;
  await expect(rows.find(nobody).lean()).rejects.toThrow('tenant');
  await expect(rows.findOne({ $or: [{ name: 'a' }, nobody] }).lean()).rejects.toThrow('tenant');
  await expect(rows.countDocuments(nobody)).rejects.toThrow('tenant');
  await expect(rows.deleteMany(nobody)).rejects.toThrow('tenant');
  await expect(rows.updateMany({}, nobody)).rejects.toThrow('tenant');
  await expect(rows.insertMany([{ _id: 'x', organization_id: 'o', name: 'n', ...nobody }])).rejects.toThrow(
    'tenant',
  );
});
