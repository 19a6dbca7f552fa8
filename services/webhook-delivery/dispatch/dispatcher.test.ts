/** Tests delivery from an event to its receivers, over HTTP with a real MongoDB and real receivers. */
import { createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Webhook as Verifier } from 'standardwebhooks';
import { newId } from '#libs/contract';
import {
  type Person,
  type ReceivedRequest,
  type Responder,
  until,
  type WebhookReceiver,
  webhookReceiver,
} from '#libs/testing';
import { documents } from '../../documents/service.ts';
import { identity } from '../../testing/services.ts';
import { WebhookEvent } from '../contract.ts';
import { webhookDelivery } from '../service.ts';
import { type TestContext, testContext } from '../testing/test-context.ts';

let context: TestContext;
let ada: Person;
const open: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  context = await testContext([identity, documents, webhookDelivery]);
});
beforeEach(async () => {
  ada = await context.createTenant();
});
afterAll(() => context?.app.stop());
afterEach(async () => {
  for (const receiver of open.splice(0)) await receiver.close();
});

const rows = () => context.app.db.collection<{ _id: string; [field: string]: unknown }>('webhook_deliveries');

async function startReceiver(respond?: Responder) {
  const receiver = await webhookReceiver(respond);
  open.push(receiver);
  return receiver;
}

test('a published document is delivered with both signatures', async () => {
  const receiver = await startReceiver();
  const { id: configId, secret } = await context.createWebhook(ada, receiver.url);
  const documentId = await context.publish(ada);
  const [entry] = await context.untilSettled(ada, 1);
  const [request] = receiver.received as [ReceivedRequest];

  expect(JSON.parse(request.body)).toEqual({
    id: request.headers['webhook-id'],
    event_type: 'document.published',
    timestamp: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
    organization_id: ada.organizationId,
    data: { document: expect.objectContaining({ id: documentId, status: 'published', title: 'SOP' }) },
  });
  expect(request.headers).toMatchObject({
    'content-type': 'application/json',
    'x-service-event': 'document.published',
    'x-service-delivery': entry?.id,
    'x-service-attempt': '1',
    'user-agent': expect.stringMatching(/Webhooks/),
    'x-service-signature': `sha256=${createHmac('sha256', secret).update(request.body).digest('hex')}`,
  });
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
  );
  expect(new Verifier(secret).verify(request.body, headers)).toMatchObject({
    event_type: 'document.published',
  });
  expect(WebhookEvent.parse(entry)).toMatchObject({
    event_type: 'document.published',
    status: 'delivered',
    attempts: 1,
    config_id: configId,
    event_id: request.headers['webhook-id'],
    document_id: documentId,
    http_status: 204,
    error: null,
    next_attempt_at: null,
  });
});

test('only subscribed webhooks of the same organization get an event', async () => {
  const [mine, unsubscribed, foreign] = [await startReceiver(), await startReceiver(), await startReceiver()];
  const bob = await context.createTenant();
  await context.createWebhook(ada, mine.url, ['document.published', 'document.archived']);
  await context.createWebhook(ada, unsubscribed.url, ['document.archived']);
  await context.createWebhook(bob, foreign.url);
  await context.publish(ada);
  await context.untilSettled(ada, 1);
  expect([mine, unsubscribed, foreign].map(({ received }) => received.length)).toEqual([1, 0, 0]);
  expect(await context.log(bob)).toEqual([]);
});

test('a failing receiver gets three attempts with the same bytes', async () => {
  const receiver = await startReceiver(() => 500);
  await context.createWebhook(ada, receiver.url);
  await context.publish(ada);
  const [entry] = await context.untilSettled(ada, 1);
  expect(entry).toMatchObject({
    status: 'failed',
    attempts: 3,
    http_status: 500,
    error: 'status_500',
    next_attempt_at: null,
  });
  expect(receiver.received.map(({ headers }) => headers['x-service-attempt'])).toEqual(['1', '2', '3']);
  expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
});

test('a delivery succeeds if the receiver recovers by the third attempt', async () => {
  let calls = 0;
  const receiver = await startReceiver(() => (++calls < 3 ? 503 : 200));
  await context.createWebhook(ada, receiver.url);
  await context.publish(ada);
  expect(await context.untilSettled(ada, 1)).toMatchObject([
    { status: 'delivered', attempts: 3, error: null },
  ]);
});

test('a 410 response fails the delivery and disables the webhook', async () => {
  const receiver = await startReceiver(() => 410);
  await context.createWebhook(ada, receiver.url);
  await context.publish(ada);
  expect(await context.untilSettled(ada, 1)).toMatchObject([
    { status: 'failed', attempts: 1, http_status: 410 },
  ]);
  await until('the webhook is off', async () => {
    const [webhook] = (await context.app.request('GET', '/webhooks', { as: ada.key })).body;
    return !webhook.is_active;
  });
  await untilHandled(await context.publish(ada));
  expect(await context.log(ada)).toHaveLength(1);
  expect(receiver.received).toHaveLength(1);
});

test('a 410 of the old URL does not disable a webhook with a new URL', async () => {
  const [old, next] = [await startReceiver(() => 410), await startReceiver()];
  const { id } = await context.createWebhook(ada, old.url);
  const arrived = old.hold();
  await context.publish(ada);
  await arrived;
  const body = { url: next.url };
  expect(await context.app.request('PATCH', `/webhooks/${id}`, { as: ada.key, body })).toMatchObject({
    status: 200,
  });
  old.release();
  expect(await context.untilSettled(ada, 1)).toMatchObject([{ status: 'failed', http_status: 410 }]);
  await context.publish(ada);
  expect(await context.untilSettled(ada, 2)).toMatchObject([{ status: 'delivered' }, { status: 'failed' }]);
  expect(next.received).toHaveLength(1);
});

test('the last response stays when its webhook is disabled before the retry', async () => {
  const receiver = await startReceiver(() => ({ status: 503, headers: { 'retry-after': '600' } }));
  const { id } = await context.createWebhook(ada, receiver.url);
  await context.publish(ada);
  await until('a first attempt', async () => (await context.log(ada))[0]?.http_status === 503);
  const body = { is_active: false };
  await context.app.request('PATCH', `/webhooks/${id}`, { as: ada.key, body });
  // the retry is due only now, however long the request took
  await rows().updateOne({ config_id: id }, { $set: { due_at: new Date() } });
  expect(await context.untilSettled(ada, 1)).toMatchObject([
    { status: 'failed', attempts: 1, http_status: 503, error: 'webhook_inactive' },
  ]);
});

test('a webhook gets no events while its organization lacks the Scale plan', async () => {
  const receiver = await startReceiver();
  await context.createWebhook(ada, receiver.url);
  await setPlan(ada, 'team');
  for (let times = 0; times < 2; times += 1) await untilHandled(await context.publish(ada));
  await setPlan(ada, 'scale');
  const documentId = await context.publish(ada);
  expect(await context.untilSettled(ada, 1)).toMatchObject([{ document_id: documentId }]);
});

test('deleting a webhook fails its pending deliveries', async () => {
  const receiver = await startReceiver(() => ({ status: 503, headers: { 'retry-after': '600' } }));
  const { id } = await context.createWebhook(ada, receiver.url);
  await context.publish(ada);
  const waiting = await until('a first attempt', async () => {
    const [entry] = await context.log(ada);
    return entry?.attempts === 1 && entry.next_attempt_at !== null && entry;
  });
  expect(Date.parse(String(waiting.next_attempt_at)) - Date.parse(String(waiting.updated_at))).toBe(600_000);
  const deleted = await context.app.request('DELETE', `/webhooks/${id}`, { as: ada.key });
  expect(deleted.status).toBe(204);
  expect(await context.log(ada)).toMatchObject([{ status: 'failed', attempts: 1, error: 'webhook_deleted' }]);
});

test('deleting a webhook during a failing request fails its delivery', async () => {
  let respond: () => void = () => undefined;
  let hasArrived = false;
  const receiver = await startReceiver(async () => {
    hasArrived = true;
    await new Promise<void>((resolve) => {
      respond = resolve;
    });
    return { status: 503, headers: { 'retry-after': '600' } };
  });
  const { id } = await context.createWebhook(ada, receiver.url);
  await context.publish(ada);
  await until('the request', async () => hasArrived);
  await context.app.request('DELETE', `/webhooks/${id}`, { as: ada.key });
  expect(await context.log(ada)).toMatchObject([{ status: 'pending' }]);
  respond();
  expect(await context.untilSettled(ada, 1)).toMatchObject([
    { status: 'failed', attempts: 1, error: 'webhook_deleted', next_attempt_at: null },
  ]);
});

test('an unreadable secret fails only the deliveries of its own webhook', async () => {
  const receiver = await startReceiver();
  const { id } = await context.createWebhook(ada, receiver.url);
  await context.createWebhook(ada, receiver.url);
  const configs = context.app.db.collection<{ _id: string }>('webhook_configs');
  await configs.updateOne({ _id: id }, { $set: { 'secrets.0.sealed': 'gone.key.x' } });
  await context.publish(ada);
  const entries = await context.untilSettled(ada, 2);
  expect(entries.find(({ config_id }) => config_id === id)).toMatchObject({
    status: 'failed',
    attempts: 0,
    error: 'secret_unreadable',
  });
  expect(entries.find(({ config_id }) => config_id !== id)).toMatchObject({ status: 'delivered' });
});

test('a hanging endpoint gets four requests and does not delay others', async () => {
  let release: () => void = () => undefined;
  const released = new Promise<number>((resolve) => {
    release = () => resolve(200);
  });
  const hanging = await startReceiver(() => released);
  const healthy = await startReceiver();
  await context.createWebhook(ada, hanging.url);
  for (let count = 0; count < 8; count += 1) await context.publish(ada);
  const bob = await context.createTenant();
  await context.createWebhook(bob, healthy.url);
  await context.publish(bob);
  expect(await context.untilSettled(bob, 1)).toMatchObject([{ status: 'delivered' }]);
  await until('four requests', async () => hanging.received.length === 4);
  release();
  expect(await context.untilSettled(ada, 8)).toHaveLength(8);
  expect(hanging.maxConcurrent()).toBe(4);
});

describe('after a crash', () => {
  test('the sweep releases a row of a dead process, and it is delivered', async () => {
    const receiver = await startReceiver();
    const row = await createAbandoned(receiver, 1);
    await context.app.restart();
    await until('the delivery', async () => (await rows().findOne({ _id: row }))?.status === 'delivered');
    expect(receiver.received.map(({ headers }) => headers['x-service-attempt'])).toEqual(['2']);
  });

  test('a row with three counted attempts fails as interrupted', async () => {
    const receiver = await startReceiver();
    const row = await createAbandoned(receiver, 3);
    await context.app.restart();
    await until('the end', async () => (await rows().findOne({ _id: row }))?.status === 'failed');
    // the log shows a change when a majority has it
    expect(await context.untilSettled(ada, 1)).toMatchObject([{ error: 'interrupted', attempts: 3 }]);
    expect(receiver.received).toEqual([]);
  });

  /** Creates a delivery as a killed process leaves it, and returns its id. */
  async function createAbandoned(receiver: WebhookReceiver, attempts: number): Promise<string> {
    await context.createWebhook(ada, receiver.url);
    await context.publish(ada);
    const [entry] = await context.untilSettled(ada, 1);
    if (!entry) throw new Error('No entry');
    const locked = { status: 'pending', attempts, lock_token: newId(), locked_until: new Date(0) };
    await rows().updateOne({ _id: entry.id }, { $set: locked });
    receiver.received.length = 0;
    return entry.id;
  }
});

test('a stop waits for requests in flight and records their outcomes', async () => {
  let arrived = false;
  let release: () => void = () => undefined;
  const receiver = await startReceiver(async () => {
    arrived = true;
    await new Promise<void>((resolve) => {
      release = resolve;
    });
    return 200;
  });
  await context.createWebhook(ada, receiver.url);
  await context.publish(ada);
  await until('the request', async () => arrived);
  const restarted = context.app.restart();
  const isStopped = () =>
    context.app.request('GET', '/').then(
      () => false,
      () => true,
    );
  await until('the stop', isStopped);
  release();
  await restarted;
  expect(await context.untilSettled(ada, 1)).toMatchObject([{ status: 'delivered', attempts: 1 }]);
  expect(receiver.received).toHaveLength(1);
});

async function setPlan(as: Person, name: string): Promise<void> {
  await context.app.db
    .collection<{ _id: string }>('subscriptions')
    .updateOne({ _id: as.organizationId }, { $set: { plan: name } });
}

/**
 * Waits until the event of a published document is handled. The in-memory bus marks it as published only
 * then.
 */
async function untilHandled(documentId: string): Promise<void> {
  const published = { event: { $regex: documentId }, published_at: { $exists: true } };
  await until('the event to be handled', () =>
    context.app.db.collection('documents_outbox').findOne(published),
  );
}
