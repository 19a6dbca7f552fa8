/** F11: MongoDB is killed, stays down, steps down and loses unreplicated writes. No event is lost or wrongly sent. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import {
  type MongoReplicaSet,
  ownMongo,
  slowness,
  type TestRabbit,
  testRabbit,
  until,
  type WebhookReceiver,
  webhookReceiver,
} from '#libs/testing';
import { type System, shortLeases, startSystem } from './system.ts';
import { createTenant, publish, startPublishing, stopLoads, type TestTenant } from './tenants.ts';
import { findViolations, waitUntilSettled } from './violations.ts';

let rabbit: TestRabbit;
let mongo: MongoReplicaSet | undefined;
let receiver: WebhookReceiver;
let running: System | undefined;

beforeAll(async () => {
  rabbit = await testRabbit();
}, 400_000);
beforeEach(async () => {
  receiver = await webhookReceiver();
});
afterEach(async () => {
  await stopLoads();
  await running?.stop();
  await receiver?.close();
  await mongo?.stop();
  running = mongo = undefined;
});
afterAll(() => rabbit?.stop());

/** Longest wait for requests that were in flight when MongoDB went down. Leases of deliveries expire after 26 s. */
const recoveryMs = 150_000;

/** Starts MongoDB with this number of members and the system on it, and creates a tenant. */
async function startOver(members: number, options: Parameters<typeof ownMongo>[1] = {}) {
  mongo = await ownMongo(members, options);
  running = await startSystem({ mongo: mongo.uri, rabbit: rabbit.url, replicas: 2, settings: shortLeases });
  const tenant = await createTenant(running, [receiver.urlFor('f11-a'), receiver.urlFor('f11-b')]);
  await publish(running, tenant);
  await until('the first deliveries', async () => receiver.received.length === 2);
  return { mongo, running, tenant };
}

/** Waits until publishing works again. */
const waitUntilPublishingWorks = (system: System, tenant: TestTenant) =>
  until('publishing to work again', () =>
    publish(system, tenant).then(
      () => true,
      () => false,
    ),
  );

/** Expects that every error is a 503 `unavailable` or `outcome_unknown`. */
function expectOnlyUnavailable(errors: readonly string[]): void {
  expect(errors.filter((one) => !/: 503 .*"code":"(unavailable|outcome_unknown)"/.test(one))).toEqual([]);
}

test('F11: requests fail with 503 and nothing is sent while MongoDB is down', async () => {
  const { mongo, running, tenant } = await startOver(1);
  const [only] = mongo.members;
  const outages: { from: number; until: number }[] = [];
  const load = startPublishing(running, tenant, 5);
  for (const awayMs of [0, 30_000]) {
    const seen = receiver.received.length;
    await until('ten deliveries', async () => receiver.received.length > seen + 10);
    const from = Date.now();
    await only?.kill();
    if (awayMs > 0) {
      // attempts counted before the fault are still sent; later ones need MongoDB
      await pause(5_000 * slowness);
      const sent = receiver.received.length;
      // the downtime is part of the fault
      await pause(awayMs);
      expect(receiver.received).toHaveLength(sent);
    }
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

test('F11: queued events are not dead-lettered while MongoDB is down', async () => {
  const { mongo, running, tenant } = await startOver(1);
  const [only] = mongo.members;
  // the consumers are paused, so all events are in the queue when MongoDB goes down
  for (const one of running.deliverers) one.process.kill('SIGSTOP');
  for (let count = 0; count < 10; count += 1) await publish(running, tenant);
  await until(
    'an empty outbox',
    async () => (await running.db.collection('documents_outbox').countDocuments({ pending: true })) === 0,
  );
  const from = Date.now();
  await only?.kill();
  for (const one of running.deliverers) one.process.kill('SIGCONT');
  // longer than all retries of an event that fails because of its content
  await pause(75_000);
  await only?.start();
  await mongo.primary();
  await waitUntilPublishingWorks(running, tenant);
  const outages = [{ from, until: Date.now() }];
  await waitUntilSettled(running, [tenant], recoveryMs);
  expect(await findViolations(running, [tenant], receiver, { outages })).toEqual([]);
}, 300_000);

test('F11: no event is lost when a primary steps down or is killed', async () => {
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
    const seen = receiver.received.length;
    await until('ten deliveries', async () => receiver.received.length > seen + 10);
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

test('F11: events that a failed primary did not replicate are not sent', async () => {
  // the publishes must reach the primary before it steps down
  const { mongo, running, tenant } = await startOver(3, { electionTimeoutMs: 10_000 });
  const drafts: string[] = [];
  for (let count = 0; count < 20; count += 1) {
    const options = { as: tenant.key, body: { title: `Draft ${count}` } };
    drafts.push((await running.request('POST', '/documents', options)).body.id);
  }
  const before = await mongo.primary();
  const others = mongo.members.filter((one) => one !== before);
  // frozen members would later read the new writes from their sockets
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
  // at least one event was lost with the primary
  const events = await running.db.collection('documents_outbox').find({}).toArray();
  const real = new Set(events.map(({ _id }) => String(_id)));
  expect(alone.filter((id) => !real.has(id)).length).toBeGreaterThan(0);
}, 300_000);

/** Reads the event ids of one member with local reads, once there are `count` or the member is no longer primary. */
async function readEventsOn(port: number, database: string, count: number): Promise<string[]> {
  const uri = `mongodb://127.0.0.1:${port}/${database}?directConnection=true&readPreference=primaryPreferred`;
  const client = await mongoose.mongo.MongoClient.connect(uri);
  try {
    const read = async () => {
      const rows = client.db().collection('documents_outbox').find({}, { readConcern: 'local' });
      return (await rows.toArray()).map(({ _id }) => String(_id));
    };
    return await until('events that only the primary has', async () => {
      const ids = await read();
      const { isWritablePrimary } = await client.db('admin').command({ hello: 1 });
      return (ids.length >= count || !isWritablePrimary) && ids;
    });
  } finally {
    await client.close();
  }
}
