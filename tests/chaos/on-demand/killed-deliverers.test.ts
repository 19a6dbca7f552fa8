/** SIGKILL of who delivers: in the midst of a batch, in the midst of a POST, and between the answer and its record. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import {
  type MongoReplicaSet,
  ownMongo,
  type TcpProxy,
  type TestRabbit,
  tcpProxy,
  testRabbit,
  until,
} from '#libs/testing';
import { type System, soonFree, system } from '../system.ts';
import {
  brokenPromises,
  type Mailbox,
  mailbox,
  openOffice,
  publish,
  publishing,
  settled,
} from '../tenants.ts';

let mongo: MongoReplicaSet;
let rabbit: TestRabbit;
let wire: TcpProxy;
let mail: Mailbox;
let running: System | undefined;

beforeAll(async () => {
  mongo = await ownMongo();
  rabbit = await testRabbit();
}, 400_000);
beforeEach(async () => {
  wire = await tcpProxy(`${mongo.uri.split('?')[0]}?directConnection=true`);
  mail = await mailbox();
});
afterEach(async () => {
  mail?.answer();
  await running?.stop();
  running = undefined;
  await mail?.close();
  await wire?.close();
}, 60_000);
afterAll(async () => {
  await mongo?.stop();
  await rabbit?.stop();
}, 60_000);

/** Locks are over after 22 s, and swept every 15 s. */
const recoveryMs = 120_000;

test('F1: of three replicas one is killed in the midst of its batch, six times: nothing is lost, nothing is sent too often', async () => {
  running = await system({ mongo: mongo.uri, rabbit: rabbit.url, replicas: 3, settings: soonFree });
  const urls = Array.from({ length: 10 }, (_, at) => mail.urlOf(`f1-${at}`));
  const offices = [await openOffice(running, urls)];
  const [office] = offices;
  // slow enough for a batch to be in hand
  mail.answer(() => new Promise((done) => setTimeout(done, 100, 200)));
  if (!office) throw new Error('There is one');
  const load = publishing(running, office, 5);
  const kills: { from: number; until: number }[] = [];
  for (let count = 0; count < 6; count += 1) {
    const seen = mail.posts.length;
    await until('a batch to be in hand', async () => {
      const inHand = mail.posts.filter(({ answered }) => answered === undefined).length;
      return mail.posts.length > seen + 20 && inHand >= 5;
    });
    const at = Date.now();
    await running.deliverers[count % 3]?.revive();
    kills.push({ from: at, until: at + 500 });
  }
  expect(await load.end()).toEqual([]);
  await settled(running, offices, recoveryMs);
  expect(await brokenPromises(running, offices, mail, { outages: kills })).toEqual([]);
  expect(office.published.length).toBeGreaterThan(20);
  // the kills were in the midst of it: some delivery has had a second attempt
  const again = mail.posts.filter(({ headers }) => headers['x-service-attempt'] !== '1');
  expect(again.length).toBeGreaterThan(0);
}, 300_000);

test('F2: a POST whose sender is killed is sent again, and counted both times', async () => {
  running = await system({ mongo: mongo.uri, rabbit: rabbit.url, settings: soonFree });
  const office = await openOffice(running, [mail.urlOf('f2-post')]);
  const never = new Promise<number>(() => {});
  mail.answer(() => never);
  await publish(running, office);
  await until('the POST', async () => mail.posts.length === 1);
  mail.answer();
  await running.deliverers[0]?.revive();
  await settled(running, [office], recoveryMs);
  expect(await brokenPromises(running, [office], mail)).toEqual([]);
  expect(mail.posts.map(({ headers }) => headers['x-service-attempt'])).toEqual(['1', '2']);
}, 240_000);

test('F2: an answer that was not recorded because its reader was killed gives one duplicate, under the same id', async () => {
  running = await system({
    mongo: mongo.uri,
    rabbit: rabbit.url,
    mongoOfDeliverers: wire.url,
    settings: soonFree,
  });
  const office = await openOffice(running, [mail.urlOf('f2-record')]);
  const recording = wire.holdAt(Buffer.from('\u0000delivered\u0000'));
  await publish(running, office);
  await recording;
  const at = Date.now();
  expect(mail.posts.map(({ answered }) => answered?.status)).toEqual([204]);
  const revived = running.deliverers[0]?.revive();
  wire.resetAll();
  await revived;
  await settled(running, [office], recoveryMs);
  const outages = [{ from: at, until: at }];
  expect(await brokenPromises(running, [office], mail, { outages })).toEqual([]);
  expect(mail.posts.map(({ headers }) => headers['x-service-attempt'])).toEqual(['1', '2']);
  expect(new Set(mail.posts.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  // without the excuse the checker tells of it
  expect(await brokenPromises(running, [office], mail)).toEqual([
    expect.stringMatching(/^I3: .* sent 1 times more/),
  ]);
}, 240_000);
