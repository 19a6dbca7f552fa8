/** A rolling restart of every replica under load: SIGTERM, one after the other; nobody notices. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type TestRabbit, testMongo, testRabbit, until } from '#libs/testing';
import { type System, system } from '../system.ts';
import { brokenPromises, type Mailbox, mailbox, openOffice, publishing, settled } from '../tenants.ts';

let mongo: Awaited<ReturnType<typeof testMongo>>;
let rabbit: TestRabbit;
let mail: Mailbox;
let running: System;

beforeAll(async () => {
  mongo = await testMongo();
  rabbit = await testRabbit();
  mail = await mailbox();
  // as in production: the time to drain is longer than a request may take
  const settings = { DRAIN_SECONDS: '12' };
  running = await system({ mongo: mongo.uri, rabbit: rabbit.url, replicas: 3, settings });
}, 400_000);
afterAll(async () => {
  await running?.stop();
  await mail?.close();
  await rabbit?.stop();
  await mongo?.stop();
}, 60_000);

test('F20: every replica of webhook delivery is stopped and started in turn, twice: no attempt is burnt, nothing is sent twice', async () => {
  const urls = Array.from({ length: 10 }, (_, at) => mail.urlOf(`f20-${at}`));
  const office = await openOffice(running, urls);
  mail.answer(() => new Promise((done) => setTimeout(done, 300, 200)));
  const load = publishing(running, office, 5);
  const inHand = () => mail.posts.filter(({ answered }) => answered === undefined).length;
  for (const one of [...running.deliverers, ...running.deliverers]) {
    const seen = mail.posts.length;
    await until('a batch to be in hand', async () => mail.posts.length > seen + 20 && inHand() >= 5);
    expect(await one.restart()).toBe(0);
  }
  expect(await load.end()).toEqual([]);
  await settled(running, [office], 60_000);
  expect(await brokenPromises(running, [office], mail)).toEqual([]);
  const log = await running.db.collection('webhook_deliveries').find({}).toArray();
  expect(log.length).toBe(10 * office.published.length);
  expect(log.filter(({ attempts }) => attempts !== 1)).toEqual([]);
  expect(mail.posts).toHaveLength(log.length);
}, 240_000);
