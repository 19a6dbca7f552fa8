/** From an event to its receivers, over HTTP with a real MongoDB and real receivers. */
import { createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Webhook as Verifier } from 'standardwebhooks';
import { newId } from '#libs/contract';
import { type Person, until } from '#libs/testing';
import { documents } from '../documents/service.ts';
import { identity } from '../identity/service.ts';
import { WebhookEvent } from './contract.ts';
import { webhookDelivery } from './service.ts';
import {
  type ReceivedRequest,
  type Responder,
  type WebhookReceiver,
  webhookReceiver,
} from './testing/receiver.ts';
import { type TestContext, testContext } from './testing/test-context.ts';

let home: TestContext;
let ada: Person;
const open: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  home = await testContext([identity, documents, webhookDelivery]);
}, 60_000);
beforeEach(async () => {
  ada = await home.createTenant();
});
afterAll(() => home?.app.stop());
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const rows = () => home.app.db.collection<{ _id: string; [field: string]: unknown }>('webhook_deliveries');

async function receiving(answering?: Responder) {
  const made = await webhookReceiver(answering);
  open.push(made);
  return made;
}

test('a published document is delivered with both signatures', async () => {
  const there = await receiving();
  const { id: configId, secret } = await home.createWebhook(ada, there.url);
  const documentId = await home.publish(ada);
  const [entry] = await home.untilSettled(ada, 1);
  const [got] = there.received as [ReceivedRequest];

  expect(JSON.parse(got.body)).toEqual({
    id: got.headers['webhook-id'],
    event_type: 'document.published',
    timestamp: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
    organization_id: ada.organizationId,
    data: { document: expect.objectContaining({ id: documentId, status: 'published', title: 'SOP' }) },
  });
  expect(got.headers).toMatchObject({
    'content-type': 'application/json',
    'x-service-event': 'document.published',
    'x-service-delivery': entry?.id,
    'x-service-attempt': '1',
    'user-agent': expect.stringMatching(/Webhooks/),
    'x-service-signature': `sha256=${createHmac('sha256', secret).update(got.body).digest('hex')}`,
  });
  const headers = Object.fromEntries(
    Object.entries(got.headers).map(([name, value]) => [name, String(value)]),
  );
  expect(new Verifier(secret).verify(got.body, headers)).toMatchObject({ event_type: 'document.published' });
  expect(WebhookEvent.parse(entry)).toMatchObject({
    event_type: 'document.published',
    status: 'delivered',
    attempts: 1,
    config_id: configId,
    event_id: got.headers['webhook-id'],
    document_id: documentId,
    http_status: 204,
    error: null,
    next_attempt_at: null,
  });
});

test('only subscribed webhooks of the same organization get an event', async () => {
  const [mine, deaf, foreign] = [await receiving(), await receiving(), await receiving()];
  const bob = await home.createTenant();
  await home.createWebhook(ada, mine.url, ['document.published', 'document.archived']);
  await home.createWebhook(ada, deaf.url, ['document.archived']);
  await home.createWebhook(bob, foreign.url);
  await home.publish(ada);
  await home.untilSettled(ada, 1);
  expect([mine, deaf, foreign].map(({ received }) => received.length)).toEqual([1, 0, 0]);
  expect(await home.log(bob)).toEqual([]);
});

test('a failing receiver gets three attempts with the same bytes', async () => {
  const there = await receiving(() => 500);
  await home.createWebhook(ada, there.url);
  await home.publish(ada);
  const [entry] = await home.untilSettled(ada, 1);
  expect(entry).toMatchObject({
    status: 'failed',
    attempts: 3,
    http_status: 500,
    error: 'status_500',
    next_attempt_at: null,
  });
  expect(there.received.map(({ headers }) => headers['x-service-attempt'])).toEqual(['1', '2', '3']);
  expect(new Set(there.received.map(({ body }) => body)).size).toBe(1);
  expect(new Set(there.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
});

test('a delivery succeeds if the receiver recovers by the third attempt', async () => {
  let calls = 0;
  const there = await receiving(() => (++calls < 3 ? 503 : 200));
  await home.createWebhook(ada, there.url);
  await home.publish(ada);
  expect(await home.untilSettled(ada, 1)).toMatchObject([{ status: 'delivered', attempts: 3, error: null }]);
});

test('a 410 response fails the delivery and disables the webhook', async () => {
  const there = await receiving(() => 410);
  await home.createWebhook(ada, there.url);
  await home.publish(ada);
  expect(await home.untilSettled(ada, 1)).toMatchObject([
    { status: 'failed', attempts: 1, http_status: 410 },
  ]);
  await until('the webhook is off', async () => {
    const [webhook] = (await home.app.request('GET', '/webhooks', { as: ada.key })).body;
    return !webhook.is_active;
  });
  await handled(await home.publish(ada));
  expect(await home.log(ada)).toHaveLength(1);
  expect(there.received).toHaveLength(1);
});

test('a webhook gets no events while its organization lacks the Scale plan', async () => {
  const there = await receiving();
  await home.createWebhook(ada, there.url);
  await plan(ada, 'team');
  for (let times = 0; times < 2; times += 1) await handled(await home.publish(ada));
  await plan(ada, 'scale');
  const told = await home.publish(ada);
  expect(await home.untilSettled(ada, 1)).toMatchObject([{ document_id: told }]);
});

test('deleting a webhook fails its pending deliveries', async () => {
  const there = await receiving(() => ({ status: 503, headers: { 'retry-after': '600' } }));
  const { id } = await home.createWebhook(ada, there.url);
  await home.publish(ada);
  const waiting = await until('a first attempt', async () => {
    const [entry] = await home.log(ada);
    return entry?.attempts === 1 && entry.next_attempt_at !== null && entry;
  });
  expect(Date.parse(String(waiting.next_attempt_at))).toBeGreaterThan(Date.now() + 500_000);
  // the log shows the outcome before the majority has it, and the transaction that deletes reads what the majority has
  await until('an outcome that the majority has', async () => {
    const deliveries = home.app.db.collection<{ _id: string; due_at?: Date }>('webhook_deliveries');
    const row = await deliveries.findOne({ _id: waiting.id }, { readConcern: 'majority' });
    return row?.due_at !== undefined;
  });
  const deleted = await home.app.request('DELETE', `/webhooks/${id}`, { as: ada.key });
  expect(deleted.status).toBe(204);
  expect(await home.log(ada)).toMatchObject([{ status: 'failed', attempts: 1, error: 'webhook_deleted' }]);
});

test('an unreadable secret fails only the deliveries of its own webhook', async () => {
  const there = await receiving();
  const { id } = await home.createWebhook(ada, there.url);
  await home.createWebhook(ada, there.url);
  const configs = home.app.db.collection<{ _id: string }>('webhook_configs');
  await configs.updateOne({ _id: id }, { $set: { 'secrets.0.sealed': 'gone.key.x' } });
  await home.publish(ada);
  const entries = await home.untilSettled(ada, 2);
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
  const hanging = await receiving(() => released);
  const healthy = await receiving();
  await home.createWebhook(ada, hanging.url);
  for (let count = 0; count < 8; count += 1) await home.publish(ada);
  const bob = await home.createTenant();
  await home.createWebhook(bob, healthy.url);
  await home.publish(bob);
  expect(await home.untilSettled(bob, 1)).toMatchObject([{ status: 'delivered' }]);
  await until('four requests', async () => hanging.received.length === 4);
  release();
  expect(await home.untilSettled(ada, 8)).toHaveLength(8);
  expect(hanging.maxConcurrent()).toBe(4);
});

describe('after a crash', () => {
  test('the sweep releases a row of a dead process, and it is delivered', async () => {
    const there = await receiving();
    const row = await abandoned(there, 1);
    await home.app.restart();
    await until('the delivery', async () => (await rows().findOne({ _id: row }))?.status === 'delivered');
    expect(there.received.map(({ headers }) => headers['x-service-attempt'])).toEqual(['2']);
  });

  test('a row with three counted attempts fails as interrupted', async () => {
    const there = await receiving();
    const row = await abandoned(there, 3);
    await home.app.restart();
    await until('the end', async () => (await rows().findOne({ _id: row }))?.status === 'failed');
    expect(await home.log(ada)).toMatchObject([{ error: 'interrupted', attempts: 3 }]);
    expect(there.received).toEqual([]);
  });

  /** A delivery as a killed process leaves it behind. */
  async function abandoned(there: WebhookReceiver, attempts: number): Promise<string> {
    await home.createWebhook(ada, there.url);
    await home.publish(ada);
    const [entry] = await home.untilSettled(ada, 1);
    if (!entry) throw new Error('No entry');
    const held = { status: 'pending', attempts, lock_token: newId(), locked_until: new Date(0) };
    await rows().updateOne({ _id: entry.id }, { $set: held });
    there.received.length = 0;
    return entry.id;
  }
});

test('a stop waits for requests in flight and records their outcomes', async () => {
  let arrived = false;
  let release: () => void = () => undefined;
  const there = await receiving(async () => {
    arrived = true;
    await new Promise<void>((resolve) => {
      release = resolve;
    });
    return 200;
  });
  await home.createWebhook(ada, there.url);
  await home.publish(ada);
  await until('the request', async () => arrived);
  const restarted = home.app.restart();
  await until('the stop', async () => (await fetch(home.app.origin).catch(() => undefined)) === undefined);
  release();
  await restarted;
  expect(await home.untilSettled(ada, 1)).toMatchObject([{ status: 'delivered', attempts: 1 }]);
  expect(there.received).toHaveLength(1);
});

async function plan(as: Person, name: string): Promise<void> {
  await home.app.db
    .collection<{ _id: string }>('subscriptions')
    .updateOne({ _id: as.organizationId }, { $set: { plan: name } });
}

/** Waits until the event of a published document was handled: a bus within one process takes it no earlier. */
async function handled(documentId: string): Promise<void> {
  const said = { event: { $regex: documentId }, published_at: { $exists: true } };
  await until('the event was handled', () => home.app.db.collection('documents_outbox').findOne(said));
}
