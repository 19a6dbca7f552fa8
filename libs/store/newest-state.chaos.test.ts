/** Tests that a transaction reads one state, which is at least as new as earlier reads. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import type { Store } from '#libs/store';
import { type MongoReplicaSet, ownMongo } from '../testing/own-mongo.ts';
import {
  createActor,
  createThing,
  type StoreFixture,
  storeFixture,
  things,
} from '../testing/store-fixture.ts';

let mongo: MongoReplicaSet;
let fixture: StoreFixture;
let store: Store;

beforeAll(async () => {
  mongo = await ownMongo();
  fixture = await storeFixture(mongo.uri);
  store = await fixture.open();
});
afterAll(async () => {
  await fixture?.stop();
  await mongo?.stop();
});

const findName = async (_id: string, options = {}) =>
  (await store.rows(things).findOne({ _id }, null, options).lean())?.name;

test('a transaction finds what a list has shown, despite a gap in the oplog', async () => {
  const { db } = fixture;
  const slow = db.collection<{ _id: string }>('slow');
  await slow.insertOne({ _id: 'first' });
  const name = 'hangAfterCollectionInserts';
  const data = { collectionNS: slow.namespace };
  const stopInserts = { configureFailPoint: name, mode: 'alwaysOn', data };
  const continueInserts = { configureFailPoint: name, mode: 'off' };
  const admin = db.admin();
  const { count } = await admin.command(stopInserts);
  // has its place in the oplog, but is not committed
  const slowInsert = slow.insertOne({ _id: 'second' });
  try {
    await admin.command({ waitForFailPoint: name, timesEntered: count + 1, maxTimeMS: 60_000 });
    const shown = { _id: newId(), organization_id: newId(), name: 'shown' };
    await db.collection<typeof shown>(things.name).insertOne(shown, { writeConcern: { w: 1 } });
    expect(await findName(shown._id)).toBe('shown');
    const found = Promise.withResolvers<string | undefined>();
    // its commit waits for the majority, hence for the slow insert
    const done = store.transact(createActor(), async ({ session }) =>
      found.resolve(await findName(shown._id, { session })),
    );
    expect(await found.promise).toBe('shown');
    await admin.command(continueInserts);
    await done;
  } finally {
    await admin.command(continueInserts);
    await slowInsert;
  }
});

test('all reads of a transaction see the same state', async () => {
  const actor = createActor();
  const first = await createThing(store, actor, 'before');
  await store.transact(createActor(), async ({ session }) => {
    expect(await findName(first, { session })).toBe('before');
    await store.rows(things).updateOne({ _id: first }, { name: 'after' });
    const second = await createThing(store, actor, 'later');
    expect([await findName(first, { session }), await findName(second, { session })]).toEqual([
      'before',
      undefined,
    ]);
  });
  expect(await findName(first)).toBe('after');
});
