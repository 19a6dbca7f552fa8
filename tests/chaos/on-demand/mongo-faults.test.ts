/** MongoDB is killed, stays away, steps down and forgets what only its primary knew: nothing is lost, and nothing sent that is not true. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import { type MongoServers, ownMongo, type TestRabbit, testRabbit, until } from '#libs/testing';
import { type System, shortLeases, startSystem } from '../system.ts';
import {
  createTenant,
  findViolations,
  publish,
  type RecordingReceiver,
  startPublishing,
  startReceiver,
  type TestTenant,
  waitUntilSettled,
} from '../tenants.ts';

let rabbit: TestRabbit;
let mongo: MongoServers | undefined;
let receiver: RecordingReceiver;
let running: System | undefined;

beforeAll(async () => {
  rabbit = await testRabbit();
}, 400_000);
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  await running?.stop();
  await receiver?.close();
  await mongo?.stop();
  running = mongo = undefined;
}, 90_000);
afterAll(() => rabbit?.stop());

/** A request that was under way when MongoDB went may wait for it so long; locks of deliveries are over after 22 s. */
const recoveryMs = 150_000;

/** The whole system over so many members, with an office. */
async function startOver(members: number) {
  mongo = await ownMongo(members);
  running = await startSystem({ mongo: mongo.uri, rabbit: rabbit.url, replicas: 2, settings: shortLeases });
  const tenant = await createTenant(running, [receiver.getUrl('f11-a'), receiver.getUrl('f11-b')]);
  await publish(running, tenant);
  await until('the first', async () => receiver.posts.length === 2);
  return { mongo, running, tenant };
}

/** Waits until publishing works again. */
const waitUntilPublishingWorks = (system: System, tenant: TestTenant) =>
  until(
    'publishing to work again',
    () =>
      publish(system, tenant).then(
        () => true,
        () => false,
      ),
    60_000,
  );

/** What was refused was refused with 503 and in no other way. */
function expectOnlyUnavailable(errors: readonly string[]): void {
  expect(errors.filter((one) => !/: 503 .*"code":"unavailable"/.test(one))).toEqual([]);
}

test('F11: a MongoDB that is killed and comes back, then is away for 30 s, loses nothing; requests get 503, nothing is sent meanwhile', async () => {
  const { mongo, running, tenant } = await startOver(1);
  const [only] = mongo.members;
  const outages: { from: number; until: number }[] = [];
  const load = startPublishing(running, tenant, 5);
  for (const awayMs of [0, 30_000]) {
    const seen = receiver.posts.length;
    await until('work under way', async () => receiver.posts.length > seen + 10);
    const from = Date.now();
    await only?.kill();
    // what had been counted before is sent; whoever needs MongoDB for it is not
    const sent = () => receiver.posts.filter(({ at }) => at > from + 1_000).length;
    // the time away is the fault itself
    await pause(awayMs);
    if (awayMs > 0) expect(sent()).toBe(0);
    await only?.start();
    await mongo.primary();
    await waitUntilPublishingWorks(running, tenant);
    outages.push({ from, until: Date.now() });
  }
  const errors = await load.stop();
  expectOnlyUnavailable(errors);
  expect(errors.length).toBeGreaterThan(10);
  await waitUntilSettled(running, [tenant], recoveryMs);
  expect(await findViolations(running, [tenant], receiver, { outages })).toEqual([]);
}, 300_000);

test('F11: what waits in the queue is not set aside while MongoDB is away, however long', async () => {
  const { mongo, running, tenant } = await startOver(1);
  const [only] = mongo.members;
  // those who hear stand still, so that all of it is in the queue when MongoDB goes
  for (const one of running.deliverers) one.process.kill('SIGSTOP');
  for (let count = 0; count < 10; count += 1) await publish(running, tenant);
  await until(
    'an empty outbox',
    async () => (await running.db.collection('documents_outbox').countDocuments({ pending: true })) === 0,
  );
  const from = Date.now();
  await only?.kill();
  for (const one of running.deliverers) one.process.kill('SIGCONT');
  // longer than all tries of an event that is to blame itself
  await pause(75_000);
  await only?.start();
  await mongo.primary();
  await waitUntilPublishingWorks(running, tenant);
  const outages = [{ from, until: Date.now() }];
  await waitUntilSettled(running, [tenant], recoveryMs);
  expect(await findViolations(running, [tenant], receiver, { outages })).toEqual([]);
}, 300_000);

test('F11: a primary that steps down, and one that is killed, are followed by another; nothing is lost', async () => {
  const { mongo, running, tenant } = await startOver(3);
  const outages: { from: number; until: number }[] = [];
  const load = startPublishing(running, tenant, 5);
  const faults = [
    () => mongo.stepDown(10),
    async () => {
      const gone = await mongo.primary();
      await gone.kill();
      await mongo.primary();
      await gone.start();
    },
  ];
  for (const fault of faults) {
    const seen = receiver.posts.length;
    await until('work under way', async () => receiver.posts.length > seen + 10);
    const from = Date.now();
    await fault();
    await mongo.primary();
    await waitUntilPublishingWorks(running, tenant);
    outages.push({ from, until: Date.now() });
  }
  expectOnlyUnavailable(await load.stop());
  await waitUntilSettled(running, [tenant], recoveryMs);
  expect(await findViolations(running, [tenant], receiver, { outages })).toEqual([]);
}, 300_000);

test('F11: what only a primary knew that is gone was never sent', async () => {
  const { mongo, running, tenant } = await startOver(3);
  const drafts: string[] = [];
  for (let count = 0; count < 20; count += 1) {
    const options = { as: tenant.key, body: { title: `Draft ${count}` } };
    drafts.push((await running.request('POST', '/documents', options)).body.id);
  }
  const before = await mongo.primary();
  const others = mongo.members.filter((one) => one !== before);
  // frozen ones would find what was said meanwhile in their sockets
  await Promise.all(others.map((one) => one.kill()));
  const from = Date.now();
  const publishes = drafts.map((id) =>
    running.request('POST', `/documents/${id}/publish`, { as: tenant.key }).catch(() => undefined),
  );
  const alone = await readEventsOn(before.port, running.db.databaseName, 1 + drafts.length);
  await before.kill();
  await Promise.all(others.map((one) => one.start()));
  await mongo.primary();
  await before.start();
  await Promise.all(publishes);
  await waitUntilPublishingWorks(running, tenant);
  const outages = [{ from, until: Date.now() }];
  await waitUntilSettled(running, [tenant], recoveryMs);
  expect(await findViolations(running, [tenant], receiver, { outages })).toEqual([]);
  // there really was something that is gone
  const events = await running.db.collection('documents_outbox').find({}).toArray();
  const real = new Set(events.map(({ _id }) => String(_id)));
  expect(alone.filter((id) => !real.has(id)).length).toBeGreaterThan(0);
}, 300_000);

/** The ids of all events on one member, whatever the others know, as soon as there are so many or it is no primary any more. */
async function readEventsOn(port: number, database: string, count: number): Promise<string[]> {
  const uri = `mongodb://127.0.0.1:${port}/${database}?directConnection=true&readPreference=primaryPreferred`;
  const client = await mongoose.mongo.MongoClient.connect(uri);
  try {
    const read = async () => {
      const rows = client.db().collection('documents_outbox').find({}, { readConcern: 'local' });
      return (await rows.toArray()).map(({ _id }) => String(_id));
    };
    return await until(
      'events that only the primary knows',
      async () => {
        const ids = await read();
        const { isWritablePrimary } = await client.db('admin').command({ hello: 1 });
        return (ids.length >= count || !isWritablePrimary) && ids;
      },
      30_000,
    );
  } finally {
    await client.close();
  }
}
