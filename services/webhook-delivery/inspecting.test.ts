/** The event log and the test of a webhook, over HTTP with a real MongoDB and real receivers. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Webhook as Verifier } from 'standardwebhooks';
import { newId } from '#libs/contract';
import type { Person, TestResponse } from '#libs/testing';
import { documents } from '../documents/service.ts';
import { identity } from '../identity/service.ts';
import { WebhookEvent } from './contract.ts';
import { webhookDelivery } from './service.ts';
import { type Responder, webhookReceiver } from './testing/receiver.ts';
import { type Entry, type TestContext, testContext } from './testing/test-context.ts';

let home: TestContext;
let ada: Person;
const open: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  home = await testContext([identity, documents, webhookDelivery], { WEBHOOK_TIMEOUT_SECONDS: '0.3' });
}, 60_000);
beforeEach(async () => {
  ada = await home.createTenant();
});
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});
afterAll(() => home?.app.stop());

async function receiving(answering?: Responder) {
  const made = await webhookReceiver(answering);
  open.push(made);
  return made;
}

const tested = (id: string, as = ada): Promise<TestResponse> =>
  home.app.request('POST', `/webhooks/${id}/test`, { as: as.key });

describe('testing a webhook', () => {
  test('a test sends one signed webhook.test event and returns the result', async () => {
    const there = await receiving(() => 202);
    const { id, secret } = await home.createWebhook(ada, there.url);
    expect(await tested(id)).toMatchObject({ status: 200, body: { status: 'delivered', http_status: 202 } });
    const [got] = there.received;
    const headers = Object.entries(got?.headers ?? {}).map(([name, value]) => [name, String(value)]);
    expect(new Verifier(secret).verify(got?.body ?? '', Object.fromEntries(headers))).toMatchObject({
      event_type: 'webhook.test',
      organization_id: ada.organizationId,
      data: { message: expect.any(String) },
    });
    const entries = (await home.log(ada)).map((entry) => WebhookEvent.parse(entry));
    expect(entries).toMatchObject([
      {
        id: got?.headers['x-service-delivery'],
        event_type: 'webhook.test',
        status: 'delivered',
        attempts: 1,
      },
    ]);
  });

  test('a failed test returns the status, is logged and is not retried', async () => {
    const there = await receiving(() => 500);
    const { id } = await home.createWebhook(ada, there.url);
    expect((await tested(id)).body).toEqual({ status: 'failed', http_status: 500 });
    expect(await home.log(ada)).toMatchObject([{ status: 'failed', attempts: 1, next_attempt_at: null }]);
    expect(there.received).toHaveLength(1);
  });

  test('a test without a response in time returns no status', async () => {
    const there = await receiving(() => new Promise(() => undefined));
    const { id } = await home.createWebhook(ada, there.url);
    expect((await tested(id)).body).toEqual({ status: 'failed', http_status: null });
    expect(await home.log(ada)).toMatchObject([{ error: 'timeout', http_status: null }]);
  });

  test('a test reaches an inactive webhook, and a 410 does not disable one', async () => {
    const there = await receiving(() => 410);
    const { id } = await home.createWebhook(ada, there.url);
    expect((await tested(id)).body).toEqual({ status: 'failed', http_status: 410 });
    const [webhook] = (await home.app.request('GET', '/webhooks', { as: ada.key })).body;
    expect(webhook.is_active).toBe(true);
    const configs = home.app.db.collection<{ _id: string }>('webhook_configs');
    await configs.updateOne({ _id: id }, { $set: { is_active: false } });
    expect((await tested(id)).body).toEqual({ status: 'failed', http_status: 410 });
    expect(there.received).toHaveLength(2);
  });

  test('only members of the organization may test a webhook', async () => {
    const there = await receiving();
    const { id } = await home.createWebhook(ada, there.url);
    const mallory = await home.createTenant();
    expect(await tested(id, mallory)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect((await tested(newId())).status).toBe(404);
    expect(there.received).toEqual([]);
  });

  test('a webhook may be tested ten times a minute', async () => {
    const there = await receiving();
    const { id } = await home.createWebhook(ada, there.url);
    const answers = await Promise.all(Array.from({ length: 11 }, () => tested(id)));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(1);
    const wait = refused[0]?.headers.get('retry-after');
    expect(Number(wait)).toBeGreaterThan(0);
    expect(refused[0]?.headers.get('ratelimit-policy')).toBe('"webhook-tests";q=10;w=60');
    expect(refused[0]?.headers.get('ratelimit')).toBe(`"webhook-tests";r=0;t=${wait}`);
    expect(there.received).toHaveLength(10);
  });

  test('a test repeated with the same Idempotency-Key sends one request', async () => {
    const there = await receiving();
    const { id } = await home.createWebhook(ada, there.url);
    const headers = { 'Idempotency-Key': newId() };
    const test = () => home.app.request('POST', `/webhooks/${id}/test`, { as: ada.key, headers });
    const first = await test();
    expect(await test()).toMatchObject({ status: 200, body: first.body });
    expect(there.received).toHaveLength(1);
    expect(await home.log(ada)).toHaveLength(1);
  });
});

describe('listing the event log', () => {
  test('the event log is listed newest first, in pages of at most 100', async () => {
    const there = await receiving();
    await home.createWebhook(ada, there.url);
    const published: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      published.push(await home.publish(ada));
      await home.untilSettled(ada, count + 1);
    }
    const entries = await home.untilSettled(ada, 3);
    expect(entries.map(({ document_id }) => document_id)).toEqual([...published].reverse());
    const first = await home.app.request('GET', '/webhooks/events?limit=2', { as: ada.key });
    const cursor = /cursor=([^&>]+)/.exec(first.headers.get('link') ?? '')?.[1];
    const rest = await home.app.request('GET', `/webhooks/events?limit=2&cursor=${cursor}`, { as: ada.key });
    expect([...first.body, ...rest.body].map(({ id }: Entry) => id)).toEqual(entries.map(({ id }) => id));
    expect((await home.app.request('GET', '/webhooks/events?limit=101', { as: ada.key })).status).toBe(400);
    expect((await home.app.request('GET', '/webhooks/events?cursor=x', { as: ada.key })).status).toBe(400);
  });

  test('the log filters by webhook, status and type and rejects bad filters', async () => {
    const [fine, broken] = [await receiving(), await receiving(() => 410)];
    const first = await home.createWebhook(ada, fine.url);
    const second = await home.createWebhook(ada, broken.url);
    await home.publish(ada);
    await home.untilSettled(ada, 2);
    await tested(second.id);
    const shown = async (query: string) =>
      (await home.app.request('GET', `/webhooks/events?${query}`, { as: ada.key })).body.map(
        ({ config_id, event_type, status }: Entry) => [config_id === first.id, event_type, status],
      );
    const sent = [true, 'document.published', 'delivered'];
    const refused = [false, 'document.published', 'failed'];
    const test = [false, 'webhook.test', 'failed'];
    expect(await shown(`config_id=${first.id}`)).toEqual([sent]);
    expect(await shown(`config_id=${second.id}`)).toEqual([test, refused]);
    expect(await shown('status=failed')).toEqual([test, refused]);
    expect(await shown('status=pending')).toEqual([]);
    expect(await shown('event_type=webhook.test')).toEqual([test]);
    expect(await shown(`config_id=${second.id}&status=failed&event_type=document.published`)).toEqual([
      refused,
    ]);
    expect(await shown(`config_id=${newId()}`)).toEqual([]);
    for (const query of ['config_id=x', 'status=lost', 'event_type=document.burnt'])
      expect(await home.app.request('GET', `/webhooks/events?${query}`, { as: ada.key })).toMatchObject({
        status: 400,
        body: { errors: [{ path: `query/${query.split('=')[0]}` }] },
      });
  });

  test('the log contains no entries of other organizations', async () => {
    const there = await receiving();
    await home.createWebhook(ada, there.url);
    await home.publish(ada);
    await home.untilSettled(ada, 1);
    expect(await home.log(await home.createTenant())).toEqual([]);
  });
});
