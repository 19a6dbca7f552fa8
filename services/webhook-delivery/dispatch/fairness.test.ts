/** Tests that hanging or unreachable receivers do not delay the deliveries of others. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { freePorts, type Person, type Responder, readMetric, until, webhookReceiver } from '#libs/testing';
import { documents } from '../../documents/service.ts';
import { identity } from '../../testing/services.ts';
import { webhookDelivery } from '../service.ts';
import { type BacklogWebhook, enqueueDeliveries } from '../testing/backlog.ts';
import { type TestContext, testContext } from '../testing/test-context.ts';

let context: TestContext;
let ada: Person;
let bob: Person;
const open: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  // a request to a hanging receiver does not end, so a delivery that waits for it fails its test
  const environment = { WEBHOOK_TIMEOUT_SECONDS: '3600', WEBHOOK_CIRCUIT_BREAKER_SECONDS: '0.3,1' };
  context = await testContext([identity, documents, webhookDelivery], environment);
});
beforeEach(async () => {
  ada = await context.createTenant();
  bob = await context.createTenant();
});
afterAll(() => context?.app.stop());
afterEach(async () => {
  await rows().deleteMany({ status: 'pending' });
  for (const receiver of open.splice(0)) await receiver.close();
});

const rows = () => context.app.db.collection<{ _id: string; [field: string]: unknown }>('webhook_deliveries');
const configs = () => context.app.db.collection<{ _id: string; [field: string]: unknown }>('webhook_configs');
const hanging: Responder = () => new Promise(() => {});

async function startReceiver(respond?: Responder, port?: number) {
  const created = await webhookReceiver(respond, port === undefined ? {} : { port });
  open.push(created);
  return created;
}

async function createHook(as: Person, url: string): Promise<BacklogWebhook> {
  const { id } = await context.createWebhook(as, url, ['document.archived']);
  return { id, organization_id: as.organizationId };
}

const metric = (name: string) => readMetric(context.app.management, name, { service: 'webhook-delivery' });

/** Inserts copies of a webhook, more than the limit for an organization. */
async function copyHook({ id, organization_id }: BacklogWebhook, count: number): Promise<BacklogWebhook[]> {
  const config = await configs().findOne({ _id: id });
  const created = Array.from({ length: count }, () => ({ ...config, _id: newId() }));
  await configs().insertMany(created);
  return created.map(({ _id }) => ({ id: _id, organization_id }));
}

test('10,000 deliveries to a hanging receiver do not delay later ones', async () => {
  const hangingReceiver = await startReceiver(hanging);
  const healthy = await startReceiver();
  const hook = await createHook(ada, hangingReceiver.url);
  const other = await createHook(bob, healthy.url);
  await enqueueDeliveries(context.app.db, [hook], 10_000, new Date(Date.now() - 60_000));
  await until('four hanging requests', async () => hangingReceiver.received.length === 4);
  await enqueueDeliveries(context.app.db, [other], 50);
  await until('the other deliveries', async () => healthy.received.length === 50);
  expect(hangingReceiver.received).toHaveLength(4);
  // a gauge that takes too long is left out
  await until('9,996 due deliveries', async () => (await metric('webhook_due_deliveries')) === 9_996);
  await until('a delivery due long ago', async () => (await metric('webhook_due_oldest_seconds')) > 60);
});

test('more hanging receivers than slots do not delay other organizations', async () => {
  const hangingReceiver = await startReceiver(hanging);
  const healthy = await startReceiver();
  const hooks = [
    ...(await copyHook(await createHook(ada, hangingReceiver.url), 70)),
    ...(await copyHook(await createHook(await context.createTenant(), hangingReceiver.url), 70)),
  ];
  const other = await createHook(bob, healthy.url);
  await enqueueDeliveries(context.app.db, hooks, 1_400, new Date(Date.now() - 60_000));
  await until('many hanging requests', async () => hangingReceiver.received.length > 100);
  await enqueueDeliveries(context.app.db, [other], 50);
  await until('the other deliveries', async () => healthy.received.length === 50);
});

test('deliveries to an unreachable receiver are postponed until it is back', async () => {
  const [port] = await freePorts(1);
  const hook = await createHook(ada, `http://127.0.0.1:${port}/hook`);
  await enqueueDeliveries(context.app.db, [hook], 100);
  const filter = { config_id: hook.id };
  await until('the postponement', () => rows().findOne({ ...filter, postponed: true }));
  // a half-open breaker permits one request at a time
  await until('several half-open tests', async () => {
    const tried = await rows()
      .find({ ...filter, attempts: { $gt: 0 } })
      .toArray();
    return tried.length > 6;
  });
  expect(await rows().countDocuments({ ...filter, attempts: 0, status: 'pending' })).toBeGreaterThan(70);
  expect(await metric('webhook_circuit_breakers_open')).toBe(1);
  const receiver = await startReceiver(undefined, port);
  await until('all to be finished', async () => {
    return (await rows().countDocuments({ ...filter, status: 'pending' })) === 0;
  });
  expect(receiver.received.length).toBeGreaterThan(90);
  expect(await metric('webhook_circuit_breakers_open')).toBe(0);
  expect(receiver.maxConcurrent()).toBeLessThanOrEqual(4);
});

test('a delivery postponed for a day fails as endpoint_unavailable', async () => {
  const [port] = await freePorts(1);
  const hook = await createHook(ada, `http://127.0.0.1:${port}/hook`);
  await enqueueDeliveries(context.app.db, [hook], 30);
  const filter = { config_id: hook.id };
  const yesterday = new Date(Date.now() - 25 * 3_600_000);
  await rows().updateMany(filter, { $set: { created_at: yesterday } });
  await until('all to be finished', async () => {
    return (await rows().countDocuments({ ...filter, status: 'pending' })) === 0;
  });
  expect(await rows().countDocuments({ ...filter, error: 'endpoint_unavailable' })).toBeGreaterThan(10);
});
