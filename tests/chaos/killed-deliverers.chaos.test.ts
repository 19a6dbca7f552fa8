/** F1 and F2: SIGKILL of webhook delivery during a batch, during a POST, and between a response and its record. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import {
  type MongoReplicaSet,
  ownMongo,
  readMetric,
  type TcpProxy,
  type TestRabbit,
  tcpProxy,
  testRabbit,
  until,
  type WebhookReceiver,
  webhookReceiver,
} from '#libs/testing';
import { type System, shortLeases, startSystem } from './system.ts';
import { createTenant, publish, startPublishing, stopLoads } from './tenants.ts';
import { findViolations, waitUntilSettled } from './violations.ts';

let mongo: MongoReplicaSet;
let rabbit: TestRabbit;
let proxy: TcpProxy;
let receiver: WebhookReceiver;
let running: System | undefined;

beforeAll(async () => {
  mongo = await ownMongo();
  rabbit = await testRabbit();
}, 400_000);
beforeEach(async () => {
  proxy = await tcpProxy(`${mongo.uri.split('?')[0]}?directConnection=true`);
  receiver = await webhookReceiver();
});
afterEach(async () => {
  await stopLoads();
  receiver?.respondWith();
  await running?.stop();
  running = undefined;
  await receiver?.close();
  await proxy?.close();
});
afterAll(async () => {
  await mongo?.stop();
  await rabbit?.stop();
});

/** Leases expire after 26 s, and the sweep runs every 15 s. */
const recoveryMs = 120_000;

test('F1: killing one of three replicas six times violates no invariant', async () => {
  running = await startSystem({ mongo: mongo.uri, rabbit: rabbit.url, replicas: 3, settings: shortLeases });
  const urls = Array.from({ length: 10 }, (_, at) => receiver.urlFor(`f1-${at}`));
  const tenants = [await createTenant(running, urls)];
  const [tenant] = tenants;
  // slow enough that a batch is in flight
  receiver.respondWith(() => new Promise((done) => setTimeout(done, 100, 200)));
  if (!tenant) throw new Error('The tenant was not created');
  const load = startPublishing(running, tenant, 5);
  const kills: { from: number; until: number }[] = [];
  for (let count = 0; count < 6; count += 1) {
    const killed = running.deliverers[count % 3];
    const seen = receiver.received.length;
    await until('more deliveries', async () => receiver.received.length > seen + 20);
    // delays the responses, so that the process is killed while its requests are in flight
    await receiver.hold();
    await until(
      'a batch in flight',
      async () => (await readMetric(`${killed?.management}`, 'webhook_in_flight_requests')) >= 2,
    );
    const from = Date.now();
    const restarted = killed?.killAndRestart();
    receiver.release();
    await restarted;
    // the receiver may read a request of the killed process late
    kills.push({ from, until: Date.now() });
  }
  expect(await load.stop()).toEqual([]);
  await waitUntilSettled(running, tenants, recoveryMs);
  expect(await findViolations(running, tenants, receiver, { outages: kills })).toEqual([]);
  expect(tenant.published.length).toBeGreaterThan(20);
  // each kill interrupted deliveries, which had a second attempt
  const again = receiver.received.filter(({ headers }) => headers['x-service-attempt'] !== '1');
  expect(again.length).toBeGreaterThanOrEqual(kills.length);
}, 300_000);

test('F2: a POST whose sender is killed is sent again and counted twice', async () => {
  running = await startSystem({ mongo: mongo.uri, rabbit: rabbit.url, settings: shortLeases });
  const tenant = await createTenant(running, [receiver.urlFor('f2-post')]);
  const never = new Promise<number>(() => {});
  receiver.respondWith(() => never);
  await publish(running, tenant);
  await until('the POST', async () => receiver.received.length === 1);
  receiver.respondWith();
  await running.deliverers[0]?.killAndRestart();
  await waitUntilSettled(running, [tenant], recoveryMs);
  expect(await findViolations(running, [tenant], receiver)).toEqual([]);
  expect(receiver.received.map(({ headers }) => headers['x-service-attempt'])).toEqual(['1', '2']);
}, 240_000);

test('F2: an unrecorded 2xx causes one duplicate with the same id', async () => {
  running = await startSystem({
    mongo: mongo.uri,
    rabbit: rabbit.url,
    delivererMongo: proxy.url,
    settings: shortLeases,
  });
  const tenant = await createTenant(running, [receiver.urlFor('f2-record')]);
  const recording = proxy.holdAt(Buffer.from('\u0000delivered\u0000'));
  const from = Date.now();
  await publish(running, tenant);
  await recording;
  const at = Date.now();
  expect(receiver.received.map(({ response }) => response?.status)).toEqual([204]);
  const revived = running.deliverers[0]?.killAndRestart();
  proxy.resetAll();
  await revived;
  await waitUntilSettled(running, [tenant], recoveryMs);
  const outages = [{ from, until: at }];
  expect(await findViolations(running, [tenant], receiver, { outages })).toEqual([]);
  expect(receiver.received.map(({ headers }) => headers['x-service-attempt'])).toEqual(['1', '2']);
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  // without the outage the checker reports the duplicate
  expect(await findViolations(running, [tenant], receiver)).toEqual([
    expect.stringMatching(/^I3: .* sent 1 times more/),
  ]);
}, 240_000);
