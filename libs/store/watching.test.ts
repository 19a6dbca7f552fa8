/** What is told of commands to MongoDB: their names, whose rows they were about, and whether they failed. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { testMongo } from '#libs/testing';
import { type StoreStage, storeStage, things } from '../testing/store-stage.ts';
import { type Command, watch } from './watching.ts';

let mongo: Awaited<ReturnType<typeof testMongo>>;
let stage: StoreStage;

beforeAll(async () => {
  mongo = await testMongo();
  stage = await storeStage(mongo.uri);
}, 60_000);
afterAll(async () => {
  await stage?.stop();
  await mongo?.stop();
});

test('a command is told with its name and collection; one that MongoDB refuses is told as failed', async () => {
  const store = await stage.open();
  const rows = store.rows(things);
  const told: Command[] = [];
  watch(rows.db.getClient(), { command: (one) => told.push(one), waited: () => undefined });
  await rows.find({ name: 'nobody' }).lean();
  await expect(rows.collection.find({ $nonsense: 1 }).toArray()).rejects.toThrow('$nonsense');
  const found = told.filter(({ name }) => name === 'find');
  expect(found.map(({ collection, isFailed }) => [collection, isFailed])).toEqual([
    [things.name, false],
    [things.name, true],
  ]);
  for (const { durationMs } of found) expect(durationMs).toBeGreaterThan(0);
});
