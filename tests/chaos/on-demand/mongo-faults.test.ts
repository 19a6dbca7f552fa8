/** MongoDB is killed, stays away, steps down and forgets what only its primary knew: nothing is lost, and nothing sent that is not true. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import { type MongoReplicaSet, ownMongo, type TestRabbit, testRabbit, until } from '#libs/testing';
import { type System, soonFree, system } from '../system.ts';
import {
  brokenPromises,
  type Mailbox,
  mailbox,
  type Office,
  openOffice,
  publish,
  publishing,
  settled,
} from '../tenants.ts';

let rabbit: TestRabbit;
let mongo: MongoReplicaSet | undefined;
let mail: Mailbox;
let running: System | undefined;

beforeAll(async () => {
  rabbit = await testRabbit();
}, 400_000);
beforeEach(async () => {
  mail = await mailbox();
});
afterEach(async () => {
  await running?.stop();
  await mail?.close();
  await mongo?.stop();
  running = mongo = undefined;
}, 90_000);
afterAll(() => rabbit?.stop());

/** A request that was under way when MongoDB went may wait for it so long; locks of deliveries are over after 22 s. */
const recoveryMs = 150_000;

/** The whole system over so many members, with an office. */
async function over(members: number) {
  mongo = await ownMongo(members);
  running = await system({ mongo: mongo.uri, rabbit: rabbit.url, replicas: 2, settings: soonFree });
  const office = await openOffice(running, [mail.urlOf('f11-a'), mail.urlOf('f11-b')]);
  await publish(running, office);
  await until('the first', async () => mail.posts.length === 2);
  return { mongo, running, office };
}

/** Waits until publishing works again. */
const worksAgain = (system: System, office: Office) =>
  until(
    'publishing to work again',
    () =>
      publish(system, office).then(
        () => true,
        () => false,
      ),
    60_000,
  );

/** What was refused was refused with 503 and in no other way. */
function onlyUnavailable(refusals: readonly string[]): void {
  expect(refusals.filter((one) => !/: 503 .*"code":"unavailable"/.test(one))).toEqual([]);
}

test('F11: a MongoDB that is killed and comes back, then is away for 30 s, loses nothing; requests get 503, nothing is sent meanwhile', async () => {
  const { mongo, running, office } = await over(1);
  const [only] = mongo.members;
  const outages: { from: number; until: number }[] = [];
  const load = publishing(running, office, 5);
  for (const awayMs of [0, 30_000]) {
    const seen = mail.posts.length;
    await until('work under way', async () => mail.posts.length > seen + 10);
    const from = Date.now();
    await only?.kill();
    // what had been counted before is sent; whoever needs MongoDB for it is not
    const sent = () => mail.posts.filter(({ at }) => at > from + 1_000).length;
    // the time away is the fault itself
    await pause(awayMs);
    if (awayMs > 0) expect(sent()).toBe(0);
    await only?.start();
    await mongo.primary();
    await worksAgain(running, office);
    outages.push({ from, until: Date.now() });
  }
  const refusals = await load.end();
  onlyUnavailable(refusals);
  expect(refusals.length).toBeGreaterThan(10);
  await settled(running, [office], recoveryMs);
  expect(await brokenPromises(running, [office], mail, { outages })).toEqual([]);
}, 300_000);

test('F11: what waits in the queue is not set aside while MongoDB is away, however long', async () => {
  const { mongo, running, office } = await over(1);
  const [only] = mongo.members;
  // those who hear stand still, so that all of it is in the queue when MongoDB goes
  for (const one of running.deliverers) one.process.kill('SIGSTOP');
  for (let made = 0; made < 10; made += 1) await publish(running, office);
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
  await worksAgain(running, office);
  const outages = [{ from, until: Date.now() }];
  await settled(running, [office], recoveryMs);
  expect(await brokenPromises(running, [office], mail, { outages })).toEqual([]);
}, 300_000);

test('F11: a primary that steps down, and one that is killed, are followed by another; nothing is lost', async () => {
  const { mongo, running, office } = await over(3);
  const outages: { from: number; until: number }[] = [];
  const load = publishing(running, office, 5);
  const hurts = [
    () => mongo.stepDown(10),
    async () => {
      const gone = await mongo.primary();
      await gone.kill();
      await mongo.primary();
      await gone.start();
    },
  ];
  for (const hurt of hurts) {
    const seen = mail.posts.length;
    await until('work under way', async () => mail.posts.length > seen + 10);
    const from = Date.now();
    await hurt();
    await mongo.primary();
    await worksAgain(running, office);
    outages.push({ from, until: Date.now() });
  }
  onlyUnavailable(await load.end());
  await settled(running, [office], recoveryMs);
  expect(await brokenPromises(running, [office], mail, { outages })).toEqual([]);
}, 300_000);

test('F11: what only a primary knew that is gone was never sent', async () => {
  const { mongo, running, office } = await over(3);
  const drafts: string[] = [];
  for (let made = 0; made < 20; made += 1) {
    const asked = { as: office.key, body: { title: `Draft ${made}` } };
    drafts.push((await running.ask('POST', '/documents', asked)).body.id);
  }
  const before = await mongo.primary();
  const others = mongo.members.filter((one) => one !== before);
  // frozen ones would find what was said meanwhile in their sockets
  await Promise.all(others.map((one) => one.kill()));
  const from = Date.now();
  const publishes = drafts.map((id) =>
    running.ask('POST', `/documents/${id}/publish`, { as: office.key }).catch(() => undefined),
  );
  const alone = await eventsOn(before.port, running.db.databaseName, 1 + drafts.length);
  await before.kill();
  await Promise.all(others.map((one) => one.start()));
  await mongo.primary();
  await before.start();
  await Promise.all(publishes);
  await worksAgain(running, office);
  const outages = [{ from, until: Date.now() }];
  await settled(running, [office], recoveryMs);
  expect(await brokenPromises(running, [office], mail, { outages })).toEqual([]);
  // there really was something that is gone
  const said = await running.db.collection('documents_outbox').find({}).toArray();
  const real = new Set(said.map(({ _id }) => String(_id)));
  expect(alone.filter((id) => !real.has(id)).length).toBeGreaterThan(0);
}, 300_000);

/** The ids of all events on one member, whatever the others know, as soon as there are so many or it is no primary any more. */
async function eventsOn(port: number, database: string, count: number): Promise<string[]> {
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
