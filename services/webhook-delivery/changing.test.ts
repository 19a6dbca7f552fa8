/** Changing webhooks, over HTTP with a real MongoDB and real receivers: what was to be sent follows the change. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import type { Person } from '#libs/testing';
import { documents } from '../documents/service.ts';
import { identity } from '../identity/service.ts';
import { Webhook } from './contract.ts';
import { webhookDelivery } from './service.ts';
import { type Responder, webhookReceiver } from './testing/receiver.ts';
import { type TestContext, testContext } from './testing/test-context.ts';

const url = 'https://93.184.215.14/hook';

let home: TestContext;
let ada: Person;
const open: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  home = await testContext([identity, documents, webhookDelivery]);
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

const patch = (id: string, body: unknown, as = ada.key) =>
  home.app.request('PATCH', `/webhooks/${id}`, { as, body });
const get = async (id: string, as = ada.key) => home.app.request('GET', `/webhooks/${id}`, { as });

describe('updating a webhook', () => {
  test('an update changes only the sent fields and never shows the secret', async () => {
    const { id } = await home.createWebhook(ada, url, ['document.published', 'document.archived']);
    const before = (await get(id)).body;
    for (const [sent, becomes] of [
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
      Object.assign(before, becomes);
      expect(Webhook.parse(changed.body)).toEqual(before);
      expect((await get(id)).body).toEqual(before);
    }
  });

  test.each([
    ['nothing', {}, 'body'],
    ['an unknown field', { name: 'X', colour: 1 }, 'body/colour'],
    ['a secret of one’s own', { name: 'X', secret: 'whsec_x' }, 'body/secret'],
    ['an unknown event type', { event_types: ['document.burnt'] }, 'body/event_types/0'],
    ['no event type', { event_types: [] }, 'body/event_types'],
    ['a name of nothing', { name: ' ' }, 'body/name'],
    ['null', { name: null }, 'body/name'],
    ['http', { url: 'http://example.com/' }, 'body/url'],
    ['a private address', { url: 'https://10.0.0.1/' }, 'body/url'],
    ['a word for a switch', { is_active: 'no' }, 'body/is_active'],
  ])('an update with %s is rejected and changes nothing', async (_, body, path) => {
    const { id } = await home.createWebhook(ada, url);
    const before = (await get(id)).body;
    const refused = { status: 400, body: { code: 'invalid_request', errors: [{ path }] } };
    expect(await patch(id, body)).toMatchObject(refused);
    expect((await get(id)).body).toEqual(before);
  });

  test('only the creator and admins may update a webhook', async () => {
    const body = { name: 'Member', role: 'member' };
    const { key } = (await home.app.request('POST', '/api-keys', { as: ada.token, body })).body;
    const own = await home.createWebhook({ ...ada, key }, url);
    const others = await home.createWebhook(ada, url);
    const rows = home.app.db.collection<{ _id: string }>('webhook_configs');
    await rows.updateOne({ _id: others.id }, { $set: { created_by: newId() } });
    expect((await patch(own.id, { name: 'Mine' }, key)).status).toBe(200);
    const refused = { status: 403, body: { code: 'forbidden' } };
    expect(await patch(others.id, { name: 'Mine' }, key)).toMatchObject(refused);
    expect((await get(others.id, key)).body).toMatchObject({ id: others.id, name: 'Hook' });
    expect((await patch(others.id, { name: 'Ours' })).status).toBe(200);
  });
});

test('get and update return 404 for foreign, unknown and malformed ids', async () => {
  const mallory = await home.createTenant();
  const { id } = await home.createWebhook(ada, url);
  for (const one of [id, newId(), 'nonsense', 'events']) {
    const missing = { status: 404, body: { code: 'not_found' } };
    expect(await patch(one, { name: 'Hers' }, mallory.key)).toMatchObject(missing);
    if (one !== 'events') expect(await get(one, mallory.key)).toMatchObject(missing);
  }
});

describe('deliveries pending during an update', () => {
  test('a retry goes to the new URL with the same bytes', async () => {
    const later = await receiving();
    const before = await receiving(async () => {
      expect((await patch(hook.id, { url: later.url })).status).toBe(200);
      return 500;
    });
    const hook = await home.createWebhook(ada, before.url);
    await home.publish(ada);
    expect(await home.untilSettled(ada, 1)).toMatchObject([{ status: 'delivered', attempts: 2 }]);
    const [first, second] = [...before.received, ...later.received];
    expect([before.received.length, later.received.length]).toEqual([1, 1]);
    expect(second?.body).toBe(first?.body);
  });

  test('a delivery fails if its webhook is inactive when it falls due', async () => {
    let calls = 0;
    const there = await receiving(async () => {
      calls += 1;
      if (calls === 1) await patch(hook.id, { is_active: false });
      if (calls === 2) for (const is_active of [false, true]) await patch(hook.id, { is_active });
      return calls === 3 ? 200 : 500;
    });
    const hook = await home.createWebhook(ada, there.url);
    await home.publish(ada);
    expect(await home.untilSettled(ada, 1)).toMatchObject([
      { status: 'failed', attempts: 1, error: 'webhook_inactive', next_attempt_at: null },
    ]);
    await patch(hook.id, { is_active: true });
    await home.publish(ada);
    expect(await home.untilSettled(ada, 2)).toMatchObject([{ status: 'delivered', attempts: 2 }, {}]);
    expect(there.received).toHaveLength(3);
  });
});

test('events from before activation or subscription are never sent', async () => {
  const [there, witness] = [await receiving(), await receiving()];
  const { id } = await home.createWebhook(ada, there.url);
  await home.createWebhook(ada, witness.url);
  await patch(id, { is_active: false });
  await home.publish(ada);
  await home.untilSettled(ada, 1);
  await patch(id, { is_active: true, event_types: ['document.archived'] });
  await home.publish(ada);
  await home.untilSettled(ada, 2);
  expect(there.received).toEqual([]);
  await patch(id, { event_types: ['document.archived', 'document.published'] });
  const told = await home.publish(ada);
  await home.untilSettled(ada, 4);
  expect(there.received.map(({ body }) => JSON.parse(body).data.document.id)).toEqual([told]);
});
