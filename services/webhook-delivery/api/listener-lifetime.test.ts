/** Tests when a listener ends, who may use it and how many there can be, over HTTP with a real MongoDB. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { addMember, type Person, until } from '#libs/testing';
import { documents } from '../../documents/service.ts';
import { identity } from '../../testing/services.ts';
import { listenerLifetimeMs, maxListeners, maxUnconfirmed } from '../rules/listeners.ts';
import { webhookDelivery } from '../service.ts';
import { listenerClient } from '../testing/listener-client.ts';
import { type TestContext, testContext } from '../testing/test-context.ts';

let context: TestContext;
let ada: Person;
/** Offset of the services' clock, in ms. */
let clockOffsetMs = 0;
const { start, request, receive, receiveAll, confirm, remove } = listenerClient(
  () => context.app,
  () => ada,
);
const rows = (name: string) => context.app.db.collection<{ _id: string }>(name);

beforeAll(async () => {
  const clock = () => new Date(Date.now() + clockOffsetMs);
  context = await testContext([identity, documents, webhookDelivery], {}, clock);
});
beforeEach(async () => {
  ada = await context.createTenant();
});
afterEach(() => {
  clockOffsetMs = 0;
});
afterAll(() => context?.app.stop());

describe('the end of a listener', () => {
  test('comes after 15 minutes without a request', async () => {
    const { id, expires_at } = await start();
    clockOffsetMs = listenerLifetimeMs - 60_000;
    expect(await receive(id)).toEqual([]);
    clockOffsetMs = Date.parse(expires_at) - Date.now() + 60_000;
    expect(await receive(id)).toEqual([]);
    clockOffsetMs += listenerLifetimeMs + 60_000;
    expect(await request(id)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    await context.publish(ada);
    const pending = { pending: true };
    await until('the event to be handled', async () => !(await rows('documents_outbox').findOne(pending)));
    expect(await rows('webhook_listener_events').countDocuments({ listener_id: id })).toBe(0);
  });

  test('comes if it confirms too few events', async () => {
    const { id } = await start();
    await context.publish(ada);
    await receiveAll(id, 1);
    const [row] = await rows('webhook_listener_events').find({ listener_id: id }).toArray();
    const addUnconfirmed = (count: number) =>
      rows('webhook_listener_events').insertMany(
        Array.from({ length: count }, () => ({ ...row, _id: newId(), event_id: newId() })),
      );
    await addUnconfirmed(maxUnconfirmed - 1);
    clockOffsetMs = 60_000;
    expect((await request(id)).status).toBe(200);
    await addUnconfirmed(1);
    clockOffsetMs = 120_000;
    expect((await request(id)).status).toBe(404);
    expect(await rows('webhook_listener_events').countDocuments({ listener_id: id })).toBe(0);
    expect(await rows('webhook_listeners').countDocuments({ _id: id })).toBe(0);
  });

  test('is a DELETE, which deletes its events', async () => {
    const { id } = await start();
    await context.publish(ada);
    await receiveAll(id, 1);
    expect((await remove(id)).status).toBe(204);
    expect((await request(id)).status).toBe(404);
    expect((await remove(id)).status).toBe(404);
    expect(await rows('webhook_listener_events').countDocuments({ listener_id: id })).toBe(0);
  });
});

describe('who may use a listener', () => {
  test('only the member who started it', async () => {
    const { id } = await start();
    const colleague = await addMember(context.app, ada.token, { role: 'admin' });
    const mallory = await context.createTenant();
    await context.publish(ada);
    const events = await receiveAll(id, 1);
    for (const as of [colleague.token, mallory.key]) {
      expect(await confirm(id, events, as)).toMatchObject({ status: 404 });
      expect(await request(id, '', as)).toMatchObject({ status: 404 });
      expect(await remove(id, as)).toMatchObject({ status: 404 });
    }
    const found = await receive(id, '', ada.token);
    expect(found.map(({ event_id }) => event_id)).toContain(events[0]?.event_id);
    expect((await request(newId())).status).toBe(404);
  });

  test('an organization has at most ten, until one ends', async () => {
    const responses = await Promise.all(
      Array.from({ length: maxListeners + 1 }, () =>
        context.app.request('POST', '/webhooks/listeners', { as: ada.key }),
      ),
    );
    const rejected = responses.filter(({ status }) => status !== 201);
    expect(rejected).toMatchObject([{ status: 400, body: { code: 'too_many_listeners' } }]);
    const { body } = responses.find(({ status }) => status === 201) ?? {};
    await remove(body.id);
    await start();
    clockOffsetMs = listenerLifetimeMs + 1;
    await start();
  });

  test('a repeated start shows no secret, and the stored secret is encrypted', async () => {
    const headers = { 'Idempotency-Key': newId() };
    const create = () => context.app.request('POST', '/webhooks/listeners', { as: ada.key, headers });
    const first = await create();
    expect((await create()).body).toEqual({ ...first.body, secret: null });
    expect(first.body.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const row = await rows('webhook_listeners').findOne({ _id: first.body.id });
    expect(JSON.stringify(row)).not.toContain(first.body.secret);
  });
});
