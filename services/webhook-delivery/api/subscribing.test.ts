/** Tests creating, listing and deleting webhooks, over HTTP with a real MongoDB. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import type { Person } from '#libs/testing';
import { documents } from '../../documents/service.ts';
import { identity } from '../../testing/services.ts';
import {
  eventType,
  NewWebhook,
  Webhook,
  webhookDeliveryContract,
  webhookSubscriptions,
} from '../contract.ts';
import { webhookDelivery } from '../service.ts';
import { type TestContext, testContext } from '../testing/test-context.ts';

/** A public address, so that no test needs a name server. */
const url = 'https://93.184.215.14/hook';
const validWebhook = { name: 'CRM', url, event_types: ['document.published'] };

let context: TestContext;
let ada: Person;

beforeAll(async () => {
  context = await testContext([identity, documents, webhookDelivery], {
    WEBHOOK_ALLOWED_CIDRS: '10.20.0.0/16',
  });
  ada = await context.createTenant();
});
afterAll(() => context?.app.stop());

const post = (body: unknown, as = ada.key, headers = {}) =>
  context.app.request('POST', '/webhooks', { as, body, headers });
const list = async (as = ada.key, query = '') =>
  (await context.app.request('GET', `/webhooks${query}`, { as })).body;
const remove = (id: string, as = ada.key) => context.app.request('DELETE', `/webhooks/${id}`, { as });
const rows = () => context.app.db.collection<{ _id: string; [field: string]: unknown }>('webhook_configs');

test('only the response to a create request contains the secret', async () => {
  const created = await post({
    ...validWebhook,
    event_types: ['document.published', 'document.published', 'member.joined'],
  });
  expect(created.status).toBe(201);
  expect(NewWebhook.parse(created.body)).toMatchObject({
    name: 'CRM',
    url,
    event_types: ['document.published', 'member.joined'],
    is_active: true,
    organization_id: ada.organizationId,
    created_by: ada.userId,
    secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
  });
  const { secret, ...rest } = created.body;
  const listed = await list();
  expect(listed).toContainEqual(rest);
  expect(JSON.stringify(listed)).not.toContain('secret');
});

test('the webhook secret is stored encrypted', async () => {
  const { secret, id } = (await post(validWebhook)).body;
  const row = JSON.stringify(await rows().findOne({ _id: id }));
  expect(row).toContain('sealed');
  expect(row).not.toContain(secret.slice('whsec_'.length));
});

test('a replayed create returns the same webhook without its secret', async () => {
  const headers = { 'Idempotency-Key': newId() };
  const first = await post(validWebhook, ada.key, headers);
  const replayed = await post(validWebhook, ada.key, headers);
  expect(replayed.headers.get('idempotency-replayed')).toBe('true');
  expect(replayed.body).toEqual({ ...first.body, secret: null });
});

test('all errors of a new webhook are reported at once', async () => {
  const response = await post({
    name: ' ',
    url: 'http://example.com',
    event_types: ['document.burnt'],
    colour: 1,
  });
  expect(response.status).toBe(400);
  expect(response.body.errors.map(({ path }: { path: string }) => path).sort()).toEqual([
    'body/colour',
    'body/event_types/0',
    'body/name',
    'body/url',
  ]);
});

describe('invalid webhooks', () => {
  test.each([
    ['an unknown event type', { event_types: ['webhook.test'] }, 'body/event_types/0'],
    ['no event type', { event_types: [] }, 'body/event_types'],
    ['a name that is too long', { name: 'x'.repeat(201) }, 'body/name'],
    ['a URL that is too long', { url: `https://example.com/${'x'.repeat(2048)}` }, 'body/url'],
    ['http to another host', { url: 'http://example.com/' }, 'body/url'],
    ['a private address', { url: 'https://10.0.0.1/' }, 'body/url'],
    ['a metadata address', { url: 'https://169.254.169.254/latest' }, 'body/url'],
    ['an IPv4-mapped private address', { url: 'https://[::ffff:192.168.0.1]/' }, 'body/url'],
    ['no host name', { url: 'https://.' }, 'body/url'],
    ['credentials', { url: 'https://me:pw@example.com/' }, 'body/url'],
  ])('a webhook with %s is rejected', async (_, override, path) => {
    const response = await post({ ...validWebhook, ...override });
    expect(response).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', errors: [{ path, message: expect.any(String) }] },
    });
  });
});

test('allowed loopback targets and ranges are accepted', async () => {
  expect((await post({ ...validWebhook, url: 'http://localhost:1/' })).status).toBe(201);
  expect((await post({ ...validWebhook, url: 'http://127.0.0.1:1/' })).status).toBe(201);
  expect((await post({ ...validWebhook, url: 'https://10.20.0.1/' })).status).toBe(201);
});

test('a host name that does not resolve is accepted', async () => {
  expect((await post({ ...validWebhook, url: 'https://nowhere.invalid/' })).status).toBe(201);
});

test('without the Scale plan, webhook operations fail before validation', async () => {
  const bob = await context.createTenant();
  await context.app.db
    .collection<{ _id: string }>('subscriptions')
    .updateOne({ _id: bob.organizationId }, { $set: { plan: 'team' } });
  const rejected = { status: 403, body: { code: 'scale_plan_required' } };
  expect(await post({ nonsense: true }, bob.key)).toMatchObject(rejected);
  for (const [method, path] of [
    ['GET', '/webhooks'],
    ['GET', '/webhooks/events'],
    ['DELETE', `/webhooks/${newId()}`],
    ['POST', `/webhooks/${newId()}/test`],
  ] as const) {
    expect(await context.app.request(method, path, { as: bob.key })).toMatchObject(rejected);
  }
});

test('an organization has at most 50 webhooks', async () => {
  const eve = await context.createTenant();
  const attempts = (length: number) => Promise.all(Array.from({ length }, () => post(validWebhook, eve.key)));
  await attempts(48);
  const responses = await attempts(10);
  expect(responses.filter(({ status }) => status === 201)).toHaveLength(2);
  expect(await list(eve.key)).toHaveLength(50);
  const rejected = responses.find(({ status }) => status !== 201);
  expect(rejected).toMatchObject({ status: 400, body: { code: 'too_many_webhooks' } });
  expect(rejected?.body.detail).toContain('50');
});

test('webhooks are listed in pages, oldest first', async () => {
  const dora = await context.createTenant();
  for (const name of ['a', 'b', 'c']) await post({ ...validWebhook, name }, dora.key);
  const first = await context.app.request('GET', '/webhooks?limit=2', { as: dora.key });
  expect(first.body.map((item: Webhook) => Webhook.parse(item).name)).toEqual(['a', 'b']);
  const cursor = /cursor=([^&>]+)/.exec(first.headers.get('link') ?? '')?.[1];
  const rest = await context.app.request('GET', `/webhooks?limit=2&cursor=${cursor}`, { as: dora.key });
  expect(rest.body.map(({ name }: Webhook) => name)).toEqual(['c']);
  expect(rest.headers.get('link')).toBeNull();
});

describe('deleting a webhook', () => {
  test('a deleted webhook is no longer listed', async () => {
    const { id } = await context.createWebhook(ada, url);
    expect((await remove(id)).status).toBe(204);
    expect((await list()).map((item: Webhook) => item.id)).not.toContain(id);
    expect((await remove(id)).status).toBe(404);
  });

  test('members delete only their own webhooks, and admins delete all', async () => {
    const body = { name: 'Member', role: 'member' };
    const { key } = (await context.app.request('POST', '/api-keys', { as: ada.token, body })).body;
    const own = (await post(validWebhook, key)).body;
    const others = (await post(validWebhook, key)).body;
    await rows().updateOne({ _id: others.id }, { $set: { created_by: newId() } });
    expect((await remove(own.id, key)).status).toBe(204);
    expect(await remove(others.id, key)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect((await remove(others.id)).status).toBe(204);
  });

  test('delete returns 404 for foreign, unknown and malformed ids', async () => {
    const mallory = await context.createTenant();
    const { id } = await context.createWebhook(ada, url);
    for (const item of [id, newId(), 'nonsense']) {
      expect(await remove(item, mallory.key)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    }
    expect((await list()).map((hook: Webhook) => hook.id)).toContain(id);
    expect(await list(mallory.key)).toEqual([]);
  });
});

test('the view for other services contains only event types and status', async () => {
  const zoe = await context.createTenant();
  await context.createWebhook(zoe, url, ['document.archived']);
  const viewRows = await context.app.db
    .collection(webhookSubscriptions.name)
    .find({ organization_id: zoe.organizationId })
    .toArray();
  expect(viewRows).toEqual([
    { organization_id: zoe.organizationId, is_active: true, event_types: ['document.archived'] },
  ]);
});

test('all consumed events can be subscribed to', () => {
  const consumed = webhookDeliveryContract.consumes.map(({ name }) => name);
  expect(consumed.length).toBeGreaterThan(0);
  expect(consumed.filter((name) => !eventType.safeParse(name).success)).toEqual([]);
});
