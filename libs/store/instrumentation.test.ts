/** Tests of the reported MongoDB commands and of the size of the connection pool. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Secret } from '#libs/contract';
import { testMongo, until } from '#libs/testing';
import { type StoreFixture, storeFixture, things } from '../testing/store-fixture.ts';
import { connect } from './connect.ts';
import { type Command, countConnections, instrument } from './instrumentation.ts';

let mongo: Awaited<ReturnType<typeof testMongo>>;
let fixture: StoreFixture;

beforeAll(async () => {
  mongo = await testMongo();
  fixture = await storeFixture(mongo.uri);
});
afterAll(async () => {
  await fixture?.stop();
  await mongo?.stop();
});

test('a command is reported with its name, collection and success', async () => {
  const store = await fixture.open();
  const rows = store.rows(things);
  const commands: Command[] = [];
  instrument(rows.db.getClient(), {
    command: (command) => commands.push(command),
    connectionWaited: () => undefined,
  });
  await rows.find({ name: 'unknown' }).lean();
  await expect(rows.collection.find({ $nonsense: 1 }).toArray()).rejects.toThrow('$nonsense');
  const finds = commands.filter(({ name }) => name === 'find');
  expect(finds.map(({ collection, isFailed }) => [collection, isFailed])).toEqual([
    [things.name, false],
    [things.name, true],
  ]);
  for (const { durationMs } of finds) expect(durationMs).toBeGreaterThan(0);
});

test('maxPoolSize in the address overrides the default', async () => {
  const countOpened = async (uri: string, expected: number) => {
    const { connection, db } = await connect(new Secret(uri), { appName: 'things', maxPoolSize: 6 });
    const slow = { $where: 'sleep(50) || true' };
    await db.collection('slow').insertOne({});
    const runQueries = async () => {
      await Promise.all(Array.from({ length: 12 }, () => db.collection('slow').findOne(slow)));
      const { inUse, idle } = countConnections(connection.getClient());
      return inUse + idle;
    };
    // on a busy machine, the first connections run all queries before others are open
    await until(`${expected} connections`, async () => (await runQueries()) >= expected);
    const count = await runQueries();
    await db.dropDatabase();
    await connection.close();
    return count;
  };
  const uri = mongo.uri.replace('/?', '/instrumentation?');
  expect(await countOpened(uri, 6)).toBe(6);
  expect(await countOpened(`${uri}&maxPoolSize=3`, 3)).toBe(3);
});

test('time limits in the address override the defaults', async () => {
  const getLimits = async (uri: string) => {
    const { connection } = await connect(new Secret(uri), { appName: 'things', maxPoolSize: 1 });
    const { serverSelectionTimeoutMS, connectTimeoutMS } = connection.getClient().options;
    await connection.close();
    return [serverSelectionTimeoutMS, connectTimeoutMS];
  };
  const url = new URL(mongo.uri);
  url.search = '?directConnection=true';
  expect(await getLimits(url.href)).toEqual([2_000, 2_000]);
  expect(await getLimits(`${url.href}&connectTimeoutMS=7000`)).toEqual([2_000, 7_000]);
  // those of the test kit: a MongoDB that is busy for some seconds fails no test
  for (const limit of await getLimits(mongo.uri)) expect(limit).toBeGreaterThanOrEqual(30_000);
});
