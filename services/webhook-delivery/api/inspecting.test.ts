/** Tests the event log and the webhook test operation, over HTTP with a real MongoDB and real receivers. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Webhook as Verifier } from 'standardwebhooks';
import { newId } from '#libs/contract';
import { type Person, type Responder, type TestResponse, until, webhookReceiver } from '#libs/testing';
import { documents } from '../../documents/service.ts';
import { identity } from '../../testing/services.ts';
import { WebhookEvent } from '../contract.ts';
import { webhookDelivery } from '../service.ts';
import { type Entry, type TestContext, testContext } from '../testing/test-context.ts';

const services = [identity, documents, webhookDelivery];
let context: TestContext;
let ada: Person;
/** The time of the services' clock while it stands still, Unix ms. */
let frozenMs: number | undefined;
const open: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  context = await testContext(services, {}, () => new Date(frozenMs ?? Date.now()));
});
beforeEach(async () => {
  ada = await context.createTenant();
});
afterEach(async () => {
  frozenMs = undefined;
  for (const receiver of open.splice(0)) await receiver.close();
});
afterAll(() => context?.app.stop());

async function startReceiver(respond?: Responder) {
  const receiver = await webhookReceiver(respond);
  open.push(receiver);
  return receiver;
}

const sendTest = (id: string, as = ada, { app } = context): Promise<TestResponse> =>
  app.request('POST', `/webhooks/${id}/test`, { as: as.key });

describe('testing a webhook', () => {
  test('a test sends one signed webhook.test event and returns the result', async () => {
    const receiver = await startReceiver(() => 202);
    const { id, secret } = await context.createWebhook(ada, receiver.url);
    expect(await sendTest(id)).toMatchObject({
      status: 200,
      body: { status: 'delivered', http_status: 202 },
    });
    const [request] = receiver.received;
    const headers = Object.entries(request?.headers ?? {}).map(([name, value]) => [name, String(value)]);
    expect(new Verifier(secret).verify(request?.body ?? '', Object.fromEntries(headers))).toMatchObject({
      event_type: 'webhook.test',
      organization_id: ada.organizationId,
      data: { message: expect.any(String) },
    });
    const entries = (await context.log(ada)).map((entry) => WebhookEvent.parse(entry));
    expect(entries).toMatchObject([
      {
        id: request?.headers['x-service-delivery'],
        event_type: 'webhook.test',
        status: 'delivered',
        attempts: 1,
      },
    ]);
  });

  test('a failed test returns the status, is logged and is not retried', async () => {
    const receiver = await startReceiver(() => 500);
    const { id } = await context.createWebhook(ada, receiver.url);
    expect((await sendTest(id)).body).toEqual({ status: 'failed', http_status: 500 });
    expect(await context.log(ada)).toMatchObject([{ status: 'failed', attempts: 1, next_attempt_at: null }]);
    expect(receiver.received).toHaveLength(1);
  });

  test('a test without a response in time returns no status', async () => {
    const receiver = await startReceiver(() => new Promise(() => undefined));
    // the other tests need a timeout that a busy machine does not reach
    const impatient = await testContext(services, { WEBHOOK_TIMEOUT_SECONDS: '0.3' });
    try {
      const bob = await impatient.createTenant();
      const { id } = await impatient.createWebhook(bob, receiver.url);
      expect((await sendTest(id, bob, impatient)).body).toEqual({ status: 'failed', http_status: null });
      expect(await impatient.log(bob)).toMatchObject([{ error: 'timeout', http_status: null }]);
    } finally {
      await impatient.app.stop();
    }
  });

  test('a test reaches an inactive webhook, and a 410 does not disable one', async () => {
    const receiver = await startReceiver(() => 410);
    const { id } = await context.createWebhook(ada, receiver.url);
    expect((await sendTest(id)).body).toEqual({ status: 'failed', http_status: 410 });
    const [webhook] = (await context.app.request('GET', '/webhooks', { as: ada.key })).body;
    expect(webhook.is_active).toBe(true);
    const configs = context.app.db.collection<{ _id: string }>('webhook_configs');
    await configs.updateOne({ _id: id }, { $set: { is_active: false } });
    expect((await sendTest(id)).body).toEqual({ status: 'failed', http_status: 410 });
    expect(receiver.received).toHaveLength(2);
  });

  test('only members of the organization may test a webhook', async () => {
    const receiver = await startReceiver();
    const { id } = await context.createWebhook(ada, receiver.url);
    const mallory = await context.createTenant();
    expect(await sendTest(id, mallory)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect((await sendTest(newId())).status).toBe(404);
    expect(receiver.received).toEqual([]);
  });

  test('a webhook may be tested ten times a minute', async () => {
    const receiver = await startReceiver();
    const { id } = await context.createWebhook(ada, receiver.url);
    // the token bucket refills with time
    frozenMs = Date.now();
    const answers = await Promise.all(Array.from({ length: 11 }, () => sendTest(id)));
    const rejected = answers.filter(({ status }) => status === 429);
    expect(rejected).toHaveLength(1);
    const retryAfter = rejected[0]?.headers.get('retry-after');
    expect(Number(retryAfter)).toBeGreaterThan(0);
    expect(rejected[0]?.headers.get('ratelimit-policy')).toBe('"webhook-tests";q=10;w=60');
    expect(rejected[0]?.headers.get('ratelimit')).toBe(`"webhook-tests";r=0;t=${retryAfter}`);
    expect(receiver.received).toHaveLength(10);
  });

  test('rejected tests of one webhook do not count for the organization', async () => {
    const receiver = await startReceiver();
    const [one, other] = [
      await context.createWebhook(ada, receiver.url),
      await context.createWebhook(ada, receiver.url),
    ];
    frozenMs = Date.now();
    for (let count = 0; count < 70; count += 1) await sendTest(one.id);
    expect((await sendTest(other.id)).status).toBe(200);
  });

  test('every test is logged, also if two have the same Idempotency-Key', async () => {
    const receiver = await startReceiver();
    const { id } = await context.createWebhook(ada, receiver.url);
    const arrived = receiver.hold();
    const headers = { 'Idempotency-Key': newId() };
    const test = () => context.app.request('POST', `/webhooks/${id}/test`, { as: ada.key, headers });
    const both = Promise.all([test(), test()]);
    await arrived;
    await until('both tests', async () => receiver.received.length === 2);
    receiver.release();
    expect((await both).map(({ status }) => status)).toContain(200);
    expect(await context.log(ada)).toHaveLength(2);
  });

  test('a test repeated with the same Idempotency-Key sends one request', async () => {
    const receiver = await startReceiver();
    const { id } = await context.createWebhook(ada, receiver.url);
    const headers = { 'Idempotency-Key': newId() };
    const test = () => context.app.request('POST', `/webhooks/${id}/test`, { as: ada.key, headers });
    const first = await test();
    expect(await test()).toMatchObject({ status: 200, body: first.body });
    expect(receiver.received).toHaveLength(1);
    expect(await context.log(ada)).toHaveLength(1);
  });
});

describe('listing the event log', () => {
  test('the event log is listed newest first, in pages of at most 100', async () => {
    const receiver = await startReceiver();
    await context.createWebhook(ada, receiver.url);
    const published: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      published.push(await context.publish(ada));
      await context.untilSettled(ada, count + 1);
    }
    const entries = await context.untilSettled(ada, 3);
    expect(entries.map(({ document_id }) => document_id)).toEqual([...published].reverse());
    const first = await context.app.request('GET', '/webhooks/events?limit=2', { as: ada.key });
    const cursor = /cursor=([^&>]+)/.exec(first.headers.get('link') ?? '')?.[1];
    const rest = await context.app.request('GET', `/webhooks/events?limit=2&cursor=${cursor}`, {
      as: ada.key,
    });
    expect([...first.body, ...rest.body].map(({ id }: Entry) => id)).toEqual(entries.map(({ id }) => id));
    expect((await context.app.request('GET', '/webhooks/events?limit=101', { as: ada.key })).status).toBe(
      400,
    );
    expect((await context.app.request('GET', '/webhooks/events?cursor=x', { as: ada.key })).status).toBe(400);
  });

  test('the log filters by webhook, status and type and rejects bad filters', async () => {
    const [fine, broken] = [await startReceiver(), await startReceiver(() => 410)];
    const first = await context.createWebhook(ada, fine.url);
    const second = await context.createWebhook(ada, broken.url);
    await context.publish(ada);
    await context.untilSettled(ada, 2);
    await sendTest(second.id);
    const list = async (query: string) =>
      (await context.app.request('GET', `/webhooks/events?${query}`, { as: ada.key })).body.map(
        ({ config_id, event_type, status }: Entry) => [config_id === first.id, event_type, status],
      );
    const sent = [true, 'document.published', 'delivered'];
    const rejected = [false, 'document.published', 'failed'];
    const test = [false, 'webhook.test', 'failed'];
    expect(await list(`config_id=${first.id}`)).toEqual([sent]);
    expect(await list(`config_id=${second.id}`)).toEqual([test, rejected]);
    expect(await list('status=failed')).toEqual([test, rejected]);
    expect(await list('status=pending')).toEqual([]);
    expect(await list('event_type=webhook.test')).toEqual([test]);
    expect(await list(`config_id=${second.id}&status=failed&event_type=document.published`)).toEqual([
      rejected,
    ]);
    expect(await list(`config_id=${newId()}`)).toEqual([]);
    for (const query of ['config_id=x', 'status=lost', 'event_type=document.burnt'])
      expect(await context.app.request('GET', `/webhooks/events?${query}`, { as: ada.key })).toMatchObject({
        status: 400,
        body: { errors: [{ path: `query/${query.split('=')[0]}` }] },
      });
  });

  test('the log contains no entries of other organizations', async () => {
    const receiver = await startReceiver();
    await context.createWebhook(ada, receiver.url);
    await context.publish(ada);
    await context.untilSettled(ada, 1);
    expect(await context.log(await context.createTenant())).toEqual([]);
  });
});
