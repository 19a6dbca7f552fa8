/** Tests webhook updates and their effect on pending deliveries, over HTTP with real receivers. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { type Person, type Responder, webhookReceiver } from '#libs/testing';
import { documents } from '../../documents/service.ts';
import { identity } from '../../testing/services.ts';
import { Webhook } from '../contract.ts';
import { webhookDelivery } from '../service.ts';
import { type TestContext, testContext } from '../testing/test-context.ts';

const url = 'https://93.184.215.14/hook';

let context: TestContext;
let ada: Person;
const open: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  context = await testContext([identity, documents, webhookDelivery]);
});
beforeEach(async () => {
  ada = await context.createTenant();
});
afterEach(async () => {
  for (const receiver of open.splice(0)) await receiver.close();
});
afterAll(() => context?.app.stop());

async function startReceiver(respond?: Responder) {
  const receiver = await webhookReceiver(respond);
  open.push(receiver);
  return receiver;
}

const patch = (id: string, body: unknown, as = ada.key) =>
  context.app.request('PATCH', `/webhooks/${id}`, { as, body });
const get = async (id: string, as = ada.key) => context.app.request('GET', `/webhooks/${id}`, { as });

describe('updating a webhook', () => {
  test('an update changes only the sent fields and never shows the secret', async () => {
    const { id } = await context.createWebhook(ada, url, ['document.published', 'document.archived']);
    const webhook = (await get(id)).body;
    for (const [sent, expected] of [
      [{ name: ' ERP ' }, { name: 'ERP' }],
      [{ url: `${url}/2` }, { url: `${url}/2` }],
      [
        { event_types: ['member.joined', 'member.joined', 'member.invited'] },
        { event_types: ['member.joined', 'member.invited'] },
      ],
      [{ is_active: false }, { is_active: false }],
      [
        { is_active: true, name: 'CRM' },
        { is_active: true, name: 'CRM' },
      ],
    ] as const) {
      const changed = await patch(id, sent);
      expect(changed.status).toBe(200);
      Object.assign(webhook, expected);
      expect(Webhook.parse(changed.body)).toEqual(webhook);
      expect((await get(id)).body).toEqual(webhook);
    }
  });

  test.each([
    ['no fields', {}, 'body'],
    ['an unknown field', { name: 'X', colour: 1 }, 'body/colour'],
    ['a secret', { name: 'X', secret: 'whsec_x' }, 'body/secret'],
    ['an unknown event type', { event_types: ['document.burnt'] }, 'body/event_types/0'],
    ['no event type', { event_types: [] }, 'body/event_types'],
    ['an empty name', { name: ' ' }, 'body/name'],
    ['a null name', { name: null }, 'body/name'],
    ['an http URL', { url: 'http://example.com/' }, 'body/url'],
    ['a private address', { url: 'https://10.0.0.1/' }, 'body/url'],
    ['a text for is_active', { is_active: 'no' }, 'body/is_active'],
  ])('an update with %s is rejected and changes nothing', async (_, body, path) => {
    const { id } = await context.createWebhook(ada, url);
    const before = (await get(id)).body;
    const rejected = { status: 400, body: { code: 'invalid_request', errors: [{ path }] } };
    expect(await patch(id, body)).toMatchObject(rejected);
    expect((await get(id)).body).toEqual(before);
  });

  test('only the creator and admins may update a webhook', async () => {
    const body = { name: 'Member', role: 'member' };
    const { key } = (await context.app.request('POST', '/api-keys', { as: ada.token, body })).body;
    const own = await context.createWebhook({ ...ada, key }, url);
    const others = await context.createWebhook(ada, url);
    const rows = context.app.db.collection<{ _id: string }>('webhook_configs');
    await rows.updateOne({ _id: others.id }, { $set: { created_by: newId() } });
    expect((await patch(own.id, { name: 'Mine' }, key)).status).toBe(200);
    const rejected = { status: 403, body: { code: 'forbidden' } };
    expect(await patch(others.id, { name: 'Mine' }, key)).toMatchObject(rejected);
    expect((await get(others.id, key)).body).toMatchObject({ id: others.id, name: 'Hook' });
    expect((await patch(others.id, { name: 'Ours' })).status).toBe(200);
  });
});

test('get and update return 404 for foreign, unknown and malformed ids', async () => {
  const mallory = await context.createTenant();
  const { id } = await context.createWebhook(ada, url);
  for (const unknownId of [id, newId(), 'nonsense']) {
    const missing = { status: 404, body: { code: 'not_found' } };
    expect(await patch(unknownId, { name: 'Hers' }, mallory.key)).toMatchObject(missing);
    expect(await get(unknownId, mallory.key)).toMatchObject(missing);
  }
});

describe('deliveries pending during an update', () => {
  test('a retry goes to the new URL with the same bytes', async () => {
    const newReceiver = await startReceiver();
    const before = await startReceiver(async () => {
      expect((await patch(hook.id, { url: newReceiver.url })).status).toBe(200);
      return 500;
    });
    const hook = await context.createWebhook(ada, before.url);
    await context.publish(ada);
    expect(await context.untilSettled(ada, 1)).toMatchObject([{ status: 'delivered', attempts: 2 }]);
    const [first, second] = [...before.received, ...newReceiver.received];
    expect([before.received.length, newReceiver.received.length]).toEqual([1, 1]);
    expect(second?.body).toBe(first?.body);
  });

  test('a delivery fails if its webhook is inactive when it falls due', async () => {
    let calls = 0;
    const receiver = await startReceiver(async () => {
      calls += 1;
      if (calls === 1) await patch(hook.id, { is_active: false });
      if (calls === 2) for (const is_active of [false, true]) await patch(hook.id, { is_active });
      return calls === 3 ? 200 : 500;
    });
    const hook = await context.createWebhook(ada, receiver.url);
    await context.publish(ada);
    expect(await context.untilSettled(ada, 1)).toMatchObject([
      { status: 'failed', attempts: 1, error: 'webhook_inactive', next_attempt_at: null },
    ]);
    await patch(hook.id, { is_active: true });
    await context.publish(ada);
    expect(await context.untilSettled(ada, 2)).toMatchObject([{ status: 'delivered', attempts: 2 }, {}]);
    expect(receiver.received).toHaveLength(3);
  });
});

test('events from before activation or subscription are never sent', async () => {
  const [receiver, witness] = [await startReceiver(), await startReceiver()];
  const { id } = await context.createWebhook(ada, receiver.url);
  await context.createWebhook(ada, witness.url);
  await patch(id, { is_active: false });
  await context.publish(ada);
  await context.untilSettled(ada, 1);
  await patch(id, { is_active: true, event_types: ['document.archived'] });
  await context.publish(ada);
  await context.untilSettled(ada, 2);
  expect(receiver.received).toEqual([]);
  await patch(id, { event_types: ['document.archived', 'document.published'] });
  const documentId = await context.publish(ada);
  await context.untilSettled(ada, 4);
  expect(receiver.received.map(({ body }) => JSON.parse(body).data.document.id)).toEqual([documentId]);
});
