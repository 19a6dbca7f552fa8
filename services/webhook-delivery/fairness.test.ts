/** What others feel of receivers that hang, and how those are left alone. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { freePorts, type Person, until } from '#libs/testing';
import { documents } from '../documents/service.ts';
import { identity } from '../identity/service.ts';
import { webhookDelivery } from './service.ts';
import { type BacklogWebhook, enqueueDeliveries } from './testing/backlog.ts';
import { type Responder, webhookReceiver } from './testing/receiver.ts';
import { type TestContext, testContext } from './testing/test-context.ts';

let home: TestContext;
let ada: Person;
let bob: Person;
const open: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  // whoever waits for a receiver that hangs waits in vain: nobody else may
  const patient = { WEBHOOK_TIMEOUT_SECONDS: '120', WEBHOOK_CIRCUIT_BREAKER_SECONDS: '0.3,1' };
  home = await testContext([identity, documents, webhookDelivery], patient);
}, 60_000);
beforeEach(async () => {
  ada = await home.createTenant();
  bob = await home.createTenant();
});
afterAll(() => home?.app.stop());
afterEach(async () => {
  await rows().deleteMany({ status: 'pending' });
  for (const one of open.splice(0)) await one.close();
});

const rows = () => home.app.db.collection<{ _id: string; [field: string]: unknown }>('webhook_deliveries');
const configs = () => home.app.db.collection<{ _id: string; [field: string]: unknown }>('webhook_configs');
const hanging: Responder = () => new Promise(() => {});

async function receiving(answering?: Responder, port?: number) {
  const made = await webhookReceiver(answering, undefined, port);
  open.push(made);
  return made;
}

async function hooked(as: Person, url: string): Promise<BacklogWebhook> {
  const { id } = await home.createWebhook(as, url, ['document.archived']);
  return { id, organization_id: as.organizationId };
}

async function metric(name: string): Promise<number> {
  const page = await (await fetch(`${home.app.management}/metrics`)).text();
  return Number(new RegExp(`^${name}\\{service="webhook-delivery"\\} ([\\d.]+)$`, 'm').exec(page)?.[1]);
}

/** The same webhook many times, more than registration allows. */
async function copies({ id, organization_id }: BacklogWebhook, count: number): Promise<BacklogWebhook[]> {
  const config = await configs().findOne({ _id: id });
  const made = Array.from({ length: count }, () => ({ ...config, _id: newId() }));
  await configs().insertMany(made);
  return made.map(({ _id }) => ({ id: _id, organization_id }));
}

test('10,000 deliveries to a hanging receiver do not delay later ones', async () => {
  const hung = await receiving(hanging);
  const healthy = await receiving();
  const hook = await hooked(ada, hung.url);
  const other = await hooked(bob, healthy.url);
  await enqueueDeliveries(home.app.db, [hook], 10_000, new Date(Date.now() - 60_000));
  await until('it hangs', async () => hung.received.length === 4);
  await enqueueDeliveries(home.app.db, [other], 50);
  await until('others are delivered', async () => healthy.received.length === 50);
  expect(hung.received).toHaveLength(4);
  expect(await metric('webhook_due_deliveries')).toBe(9_996);
  expect(await metric('webhook_due_oldest_seconds')).toBeGreaterThan(60);
}, 60_000);

test('more hanging receivers than slots do not delay other organizations', async () => {
  const hung = await receiving(hanging);
  const healthy = await receiving();
  const hooks = [
    ...(await copies(await hooked(ada, hung.url), 70)),
    ...(await copies(await hooked(await home.createTenant(), hung.url), 70)),
  ];
  const other = await hooked(bob, healthy.url);
  await enqueueDeliveries(home.app.db, hooks, 1_400, new Date(Date.now() - 60_000));
  await until('many hang', async () => hung.received.length > 100);
  await enqueueDeliveries(home.app.db, [other], 50);
  await until('others are delivered', async () => healthy.received.length === 50);
}, 60_000);

test('deliveries to an unreachable receiver are postponed until it is back', async () => {
  const [port] = await freePorts(1);
  const hook = await hooked(ada, `http://127.0.0.1:${port}/hook`);
  await enqueueDeliveries(home.app.db, [hook], 100);
  const mine = { config_id: hook.id };
  await until('it is left alone', () => rows().findOne({ ...mine, postponed: true }));
  // each probe is one request
  await until('it was asked again and again', async () => {
    const tried = await rows()
      .find({ ...mine, attempts: { $gt: 0 } })
      .toArray();
    return tried.length > 6;
  });
  expect(await rows().countDocuments({ ...mine, attempts: 0, status: 'pending' })).toBeGreaterThan(70);
  expect(await metric('webhook_circuit_breakers_open')).toBe(1);
  const there = await receiving(undefined, port);
  await until('all have come to an end', async () => {
    return (await rows().countDocuments({ ...mine, status: 'pending' })) === 0;
  });
  expect(there.received.length).toBeGreaterThan(90);
  expect(await metric('webhook_circuit_breakers_open')).toBe(0);
  expect(there.maxConcurrent()).toBeLessThanOrEqual(4);
}, 60_000);

test('a delivery postponed for a day fails as endpoint_unavailable', async () => {
  const [port] = await freePorts(1);
  const hook = await hooked(ada, `http://127.0.0.1:${port}/hook`);
  await enqueueDeliveries(home.app.db, [hook], 30);
  const mine = { config_id: hook.id };
  const yesterday = new Date(Date.now() - 25 * 3_600_000);
  await rows().updateMany(mine, { $set: { created_at: yesterday } });
  await until('all have come to an end', async () => {
    return (await rows().countDocuments({ ...mine, status: 'pending' })) === 0;
  });
  expect(await rows().countDocuments({ ...mine, error: 'endpoint_unavailable' })).toBeGreaterThan(10);
});
