/** Tests that the driver uses the replaced sets of sessions and cursors. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Secret } from '#libs/contract';
import { type StoreFixture, storeFixture } from '../testing/store-fixture.ts';
import { connect } from './connect.ts';
import { SwapRemoveSet } from './swap-remove-set.ts';

type Row = { _id: string };

let mongo: StoreFixture;
beforeAll(async () => {
  mongo = await storeFixture();
});
afterAll(() => mongo?.stop());

test('the driver stores sessions and cursors in a SwapRemoveSet', async () => {
  const { connection, db } = await connect(new Secret(mongo.uri), { appName: 'test', maxPoolSize: 2 });
  // the driver's internals have no types
  const { s } = connection.getClient() as unknown as { s: Record<string, unknown> };
  const sets = [s.activeSessions, s.activeCursors] as SwapRemoveSet<object>[];
  const sizes = () => sets.map(({ size }) => size);
  try {
    for (const set of sets) expect(set).toBeInstanceOf(SwapRemoveSet);
    await db.collection<Row>('things').insertMany([{ _id: 'a' }, { _id: 'b' }]);
    const cursor = db.collection<Row>('things').find({}, { batchSize: 1 });
    await cursor.next();
    expect(sizes()).toEqual([1, 1]);
    await cursor.close();
    expect(sizes()).toEqual([0, 0]);
  } finally {
    await connection.close();
  }
});
