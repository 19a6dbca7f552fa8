/** What is told of commands to MongoDB: their names, whose rows they were about, and whether they failed. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Secret } from '#libs/contract';
import { testMongo } from '#libs/testing';
import { type StoreFixture, storeFixture, things } from '../testing/store-fixture.ts';
import { connect } from './connect.ts';
import { type Command, countConnections, instrument } from './instrumentation.ts';

let mongo: Awaited<ReturnType<typeof testMongo>>;
let fixture: StoreFixture;

beforeAll(async () => {
  mongo = await testMongo();
  fixture = await storeFixture(mongo.uri);
}, 60_000);
afterAll(async () => {
  await fixture?.stop();
  await mongo?.stop();
});

test('a command is told with its name and collection; one that MongoDB refuses is told as failed', async () => {
  const store = await fixture.open();
  const rows = store.rows(things);
  const told: Command[] = [];
  instrument(rows.db.getClient(), { command: (one) => told.push(one), connectionWaited: () => undefined });
  await rows.find({ name: 'nobody' }).lean();
  await expect(rows.collection.find({ $nonsense: 1 }).toArray()).rejects.toThrow('$nonsense');
  const found = told.filter(({ name }) => name === 'find');
  expect(found.map(({ collection, isFailed }) => [collection, isFailed])).toEqual([
    [things.name, false],
    [things.name, true],
  ]);
  for (const { durationMs } of found) expect(durationMs).toBeGreaterThan(0);
});

test('who says in the address how many connections there may be has so many', async () => {
  const most = async (uri: string) => {
    const { connection, db } = await connect(new Secret(uri), { appName: 'things', maxPoolSize: 6 });
    const slow = { $where: 'sleep(50) || true' };
    await db.collection('slow').insertOne({});
    await Promise.all(Array.from({ length: 12 }, () => db.collection('slow').findOne(slow)));
    const { inUse, idle } = countConnections(connection.getClient());
    await db.dropDatabase();
    await connection.close();
    return inUse + idle;
  };
  const uri = mongo.uri.replace('/?', '/watching?');
  expect(await most(uri)).toBe(6);
  expect(await most(`${uri}&maxPoolSize=3`)).toBe(3);
});
