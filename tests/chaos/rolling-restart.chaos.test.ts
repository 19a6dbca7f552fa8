/** F20: a rolling restart of all replicas under load wastes no attempt and repeats no POST. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  type TestRabbit,
  testMongo,
  testRabbit,
  until,
  type WebhookReceiver,
  webhookReceiver,
} from '#libs/testing';
import { type System, startSystem } from './system.ts';
import { createTenant, startPublishing, stopLoads } from './tenants.ts';
import { findViolations, waitUntilSettled } from './violations.ts';

let mongo: Awaited<ReturnType<typeof testMongo>>;
let rabbit: TestRabbit;
let receiver: WebhookReceiver;
let running: System;

beforeAll(async () => {
  mongo = await testMongo();
  rabbit = await testRabbit();
  receiver = await webhookReceiver();
  // as in production, the drain time is longer than the time limit of a request
  const settings = { DRAIN_SECONDS: '12' };
  running = await startSystem({ mongo: mongo.uri, rabbit: rabbit.url, replicas: 3, settings });
}, 400_000);
afterAll(async () => {
  await stopLoads();
  await running?.stop();
  await receiver?.close();
  await rabbit?.stop();
  await mongo?.stop();
});

test('F20: restarting every replica twice wastes no attempt', async () => {
  const urls = Array.from({ length: 10 }, (_, at) => receiver.urlFor(`f20-${at}`));
  const tenant = await createTenant(running, urls);
  receiver.respondWith(() => new Promise((done) => setTimeout(done, 300, 200)));
  const load = startPublishing(running, tenant, 5);
  const inFlight = () => receiver.received.filter(({ response }) => response === undefined).length;
  for (const one of [...running.deliverers, ...running.deliverers]) {
    const seen = receiver.received.length;
    await until('a batch in flight', async () => receiver.received.length > seen + 20 && inFlight() >= 5);
    expect(await one.restart()).toBe(0);
  }
  expect(await load.stop()).toEqual([]);
  await waitUntilSettled(running, [tenant], 60_000);
  expect(await findViolations(running, [tenant], receiver)).toEqual([]);
  const log = await running.db.collection('webhook_deliveries').find({}).toArray();
  expect(log.length).toBe(10 * tenant.published.length);
  expect(log.filter(({ attempts }) => attempts !== 1)).toEqual([]);
  expect(receiver.received).toHaveLength(log.length);
}, 240_000);
