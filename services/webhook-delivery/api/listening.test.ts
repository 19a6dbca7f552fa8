/** Tests listeners over HTTP with a real MongoDB: which events they get, and in which form. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Webhook as Verifier } from 'standardwebhooks';
import { must, type Person, publishDocument, setPlan, until, webhookReceiver } from '#libs/testing';
import { documents } from '../../documents/service.ts';
import { identity } from '../../testing/services.ts';
import type { ListenedEvent } from '../contract.ts';
import { listenerLifetimeMs } from '../rules/listeners.ts';
import { webhookDelivery } from '../service.ts';
import { listenerClient } from '../testing/listener-client.ts';
import { type TestContext, testContext } from '../testing/test-context.ts';

let context: TestContext;
let ada: Person;
/** Offset of the services' clock, in ms. */
let clockOffsetMs = 0;
const { start, request, receive, receiveAll, confirm } = listenerClient(
  () => context.app,
  () => ada,
);
const rows = (name: string) => context.app.db.collection<{ _id: string }>(name);

const verify = (secret: string, { headers, body }: ListenedEvent) =>
  new Verifier(secret).verify(body, headers);

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

describe('a listener gets', () => {
  test('every event of the organization, without a webhook, in order', async () => {
    const { id, secret } = await start();
    const first = await publishDocument(context.app, ada.key);
    await receiveAll(id, 1);
    await must(context.app, 'POST', `/documents/${first.id}/archive`, { as: ada.key });
    await receiveAll(id, 2);
    await must(context.app, 'POST', '/members/invitations', {
      as: ada.key,
      body: { email: 'eve@example.com' },
    });
    const events = await receiveAll(id, 3);
    const types = ['document.published', 'document.archived', 'member.invited'];
    expect(events.map(({ event_type }) => event_type)).toEqual(types);
    for (const event of events)
      expect(verify(secret, event)).toMatchObject({ id: event.event_id, event_type: event.event_type });
    expect(await context.log(ada)).toEqual([]);
    expect(await rows('webhook_events').countDocuments({ organization_id: ada.organizationId })).toBe(0);
  });

  test('the same body and headers as a webhook', async () => {
    const receiver = await webhookReceiver();
    try {
      await context.createWebhook(ada, receiver.url);
      const { id, secret } = await start();
      await context.publish(ada);
      await context.untilSettled(ada, 1);
      const [event] = (await receiveAll(id, 1)) as [ListenedEvent];
      const [sent] = receiver.received;
      expect(event.body).toBe(sent?.body);
      const { host: _, connection: __, 'content-length': ___, ...headers } = sent?.headers ?? {};
      const names = Object.keys(event.headers).map((name) => name.toLowerCase());
      expect(names.sort()).toEqual(Object.keys(headers).sort());
      expect(event.headers['webhook-id']).toBe(headers['webhook-id']);
      expect(event.headers['X-Service-Attempt']).toBe('1');
      expect(verify(secret, event)).toEqual(JSON.parse(event.body));
    } finally {
      await receiver.close();
    }
  });

  test('events that are triggered again', async () => {
    const { id: doc_id } = await publishDocument(context.app, ada.key);
    const trigger = () =>
      must(context.app, 'POST', `/documents/${doc_id}/trigger-webhooks`, {
        as: ada.key,
        body: { event_type: 'document.published' },
      });
    expect(await trigger()).toEqual({ dispatched: false });
    const { id } = await start();
    expect(await trigger()).toEqual({ dispatched: true });
    const [event] = (await receiveAll(id, 1)) as [ListenedEvent];
    expect(JSON.parse(event.body).data).toMatchObject({ refired: true, document: { id: doc_id } });
    clockOffsetMs = listenerLifetimeMs + 1;
    expect(await trigger()).toEqual({ dispatched: false });
  });

  test('no event of other organizations, and none after its plan ends', async () => {
    const { id } = await start();
    await context.publish(await context.createTenant());
    await setPlan(context.app, ada.organizationId, 'team');
    expect(await request(id)).toMatchObject({ status: 403, body: { code: 'scale_plan_required' } });
    await context.publish(ada);
    await until('the event to be handled', async () => {
      const pending = { type: 'document.published', pending: true };
      return (await rows('documents_outbox').countDocuments(pending)) === 0;
    });
    await setPlan(context.app, ada.organizationId, 'scale');
    await context.publish(ada);
    const [event] = (await receiveAll(id, 1)) as [ListenedEvent];
    expect(await receive(id)).toHaveLength(1);
    expect(JSON.parse(event.body).organization_id).toBe(ada.organizationId);
  });
});

describe('receiving events', () => {
  test('repeats events until they are confirmed, in pages', async () => {
    const { id } = await start();
    for (let count = 0; count < 3; count += 1) await context.publish(ada);
    const all = await receiveAll(id, 3);
    expect((await receive(id)).map(({ body }) => body)).toEqual(all.map(({ body }) => body));
    const ids = async (query: string) => (await receive(id, query)).map(({ event_id }) => event_id);
    const [first, second, third] = all.map(({ event_id }) => event_id);
    expect(await ids('?limit=2')).toEqual([first, second]);
    // in any order, and again
    for (const confirmed of [all.slice(1, 2), all.slice(1)])
      expect((await confirm(id, confirmed)).status).toBe(204);
    expect([await ids(''), third]).toEqual([[first], third]);
    expect((await confirm(id, all)).status).toBe(204);
    expect(await ids('')).toEqual([]);
  });

  test('rejects invalid input', async () => {
    const { id } = await start();
    for (const [query, path] of [
      ['limit=0', 'query/limit'],
      ['limit=101', 'query/limit'],
      ['wait_seconds=31', 'query/wait_seconds'],
    ])
      expect(await request(id, `?${query}`)).toMatchObject({ status: 400, body: { errors: [{ path }] } });
    const errors = [{ path: 'body/event_ids' }];
    expect(await confirm(id, [])).toMatchObject({ status: 400, body: { errors } });
  });

  test('signs events at the time of the request', async () => {
    const { id, secret } = await start();
    await context.publish(ada);
    const [before] = (await receiveAll(id, 1)) as [ListenedEvent];
    clockOffsetMs = 200_000;
    const [later] = (await receive(id)) as [ListenedEvent];
    expect(later.headers['webhook-timestamp']).not.toBe(before.headers['webhook-timestamp']);
    expect(verify(secret, later)).toEqual(JSON.parse(before.body));
  });

  test('waits for the next event', async () => {
    const { id } = await start();
    const waiting = receive(id, '?wait_seconds=30');
    await context.publish(ada);
    expect(await waiting).toMatchObject([{ event_type: 'document.published' }]);
  });

  test('ends without an event after the time', async () => {
    const { id } = await start();
    expect(await receive(id, '?wait_seconds=1')).toEqual([]);
  });

  test('a further request ends the wait of the first one', async () => {
    const { id } = await start();
    const [first, second] = [receive(id, '?wait_seconds=30'), receive(id, '?wait_seconds=30')];
    expect(await Promise.race([first, second])).toEqual([]);
    await context.publish(ada);
    expect((await Promise.all([first, second])).map(({ length }) => length).sort()).toEqual([0, 1]);
  });
});

test('events of organizations without a listener are not stored', async () => {
  await start();
  const other = await context.createTenant();
  await context.publish(other);
  await context.publish(ada);
  await until(
    'the event of the listener',
    async () => (await rows('webhook_listener_events').countDocuments()) > 0,
  );
  const bodies = await context.app.db.collection('webhook_listener_events').find().toArray();
  expect(JSON.stringify(bodies)).not.toContain(other.organizationId);
});

test('a stop ends waiting requests at once', async () => {
  const own = await testContext([identity, documents, webhookDelivery], { DRAIN_SECONDS: '3600' });
  const bob = await own.createTenant();
  const { id } = await must(own.app, 'POST', '/webhooks/listeners', { as: bob.key });
  const path = `/webhooks/listeners/${id}/events?wait_seconds=30`;
  const waiting = own.app.request('GET', path, { as: bob.key });
  await until('a request in flight', async () => {
    const text = await (await fetch(`${own.app.management}/metrics`)).text();
    return /^webhook_listener_requests_waiting\{[^}]*\} 1$/m.test(text);
  });
  const startedAt = performance.now();
  await own.app.stop();
  expect(await waiting).toMatchObject({ status: 200, body: [] });
  // the stop did not wait for the poll
  expect(performance.now() - startedAt).toBeLessThan(30_000);
});
