/** Tests `triggerWebhooks` over HTTP with a real MongoDB. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { createWebhook, until } from '#libs/testing';
import { services } from '../testing/services.ts';
import { type LifecycleClient, lifecycleClient, outcome } from './testing/lifecycle.ts';
import { type TestContext, type TestMember, testContext } from './testing/test-context.ts';

let context: TestContext;
let lifecycle: LifecycleClient;
let ada: TestMember;

beforeAll(async () => {
  context = await testContext(services);
  lifecycle = lifecycleClient(context);
  ada = await context.admin();
});
afterAll(() => context?.app.stop());

const eventTypes = ['document.published', 'document.revised', 'document.archived'];
const fire = (member: TestMember, id: string, event_type: unknown, headers = {}) =>
  context.request(member, 'POST', `${id}/trigger-webhooks`, { event_type }, headers);

/** Registers an organization with a webhook for these events and returns its admin. */
async function createSubscriber(event_types: string[]): Promise<TestMember & { webhook: string }> {
  const admin = await context.admin();
  const webhook = await createWebhook(context.app, admin.as, 'http://127.0.0.1:9/', event_types);
  return { ...admin, webhook: webhook.id };
}

describe('with a subscribed webhook', () => {
  test.each(eventTypes)('triggerWebhooks sends %s again in any status', async (kind) => {
    const bo = await createSubscriber(eventTypes);
    const { id } = await context.create(bo);
    const steps = [undefined, lifecycle.publish, lifecycle.archive];
    for (const step of steps) {
      await step?.(bo, id);
      const before = await context.request(bo, 'GET', id);
      const response = await fire(bo, id, kind);
      expect([response.status, response.body]).toEqual([202, { dispatched: true }]);
      const { nodes: _, ...summary } = before.body;
      const event = (await lifecycle.publishedEvents(id)).at(-1);
      expect([event?.type, event?.data]).toEqual([kind, { document: summary, refired: true }]);
      const after = await context.request(bo, 'GET', id);
      expect([after.body, after.headers.get('etag')]).toEqual([before.body, before.headers.get('etag')]);
    }
    expect(await lifecycle.countPublished(id)).toBe(1);
  });

  test('triggerWebhooks reaches the webhook and creates no notification', async () => {
    const bo = await createSubscriber(['document.archived']);
    const owner = await context.member(bo);
    const { id } = await context.create(owner);
    await fire(bo, id, 'document.archived');
    const log = () => context.app.request('GET', '/webhooks/events', { as: bo.as });
    await until('an entry in the log', async () => (await log()).body.length === 1);
    const [entry] = (await log()).body;
    expect(entry).toMatchObject({ event_type: 'document.archived', document_id: id });
    const body = context.app.db.collection<{ _id: string; body: string }>('webhook_events');
    const sent = JSON.parse((await body.findOne({ _id: entry.event_id }))?.body ?? '{}');
    expect(sent.data.refired).toBe(true);
    await until('the event is published', async () => {
      const rows = context.app.db.collection<{ _id: string }>('documents_outbox');
      return (await rows.findOne({ _id: entry.event_id, pending: { $exists: false } })) !== null;
    });
    const inbox = await context.app.request('GET', '/inbox', { as: owner.as });
    expect(inbox.body.filter(({ type }: { type: string }) => type.startsWith('document.'))).toEqual([]);
  });

  test('triggerWebhooks with one Idempotency-Key sends the event once', async () => {
    const bo = await createSubscriber(eventTypes);
    const { id } = await context.create(bo);
    const headers = { 'idempotency-key': newId() };
    for (let times = 0; times < 2; times += 1)
      expect((await fire(bo, id, 'document.published', headers)).body).toEqual({ dispatched: true });
    expect(await lifecycle.publishedEvents(id)).toHaveLength(1);
  });
});

describe('without a subscribed webhook', () => {
  test('triggerWebhooks sends nothing without an active, subscribed webhook', async () => {
    const bo = await createSubscriber(['document.archived']);
    const { id } = await context.create(bo);
    expect((await fire(bo, id, 'document.published')).body).toEqual({ dispatched: false });
    const configs = context.app.db.collection<{ _id: string }>('webhook_configs');
    await configs.updateOne({ _id: bo.webhook }, { $set: { is_active: false } });
    expect((await fire(bo, id, 'document.archived')).body).toEqual({ dispatched: false });
    const other = await context.create(ada);
    const response = await fire(ada, other.id, 'document.published');
    expect([response.status, response.body]).toEqual([202, { dispatched: false }]);
    expect(await lifecycle.publishedEvents(id, other.id)).toEqual([]);
  });

  test('triggerWebhooks sends nothing unless the plan is Scale', async () => {
    const bo = await createSubscriber(eventTypes);
    const { id, organization_id } = await context.create(bo);
    await lifecycle.setPlan(organization_id, 'team');
    expect((await fire(bo, id, 'document.published')).body).toEqual({ dispatched: false });
    expect(await lifecycle.publishedEvents(id)).toEqual([]);
    await lifecycle.setPlan(organization_id, 'scale');
    expect((await fire(bo, id, 'document.published')).body).toEqual({ dispatched: true });
  });
});

describe('rejected requests', () => {
  test('triggerWebhooks rejects other event types', async () => {
    const { id } = await context.create(ada);
    for (const kind of [
      'document.assigned',
      'document.deleted',
      'webhook.test',
      'member.joined',
      '',
      null,
      undefined,
    ])
      expect(outcome(await fire(ada, id, kind))).toEqual([400, 'invalid_request']);
  });

  test('triggerWebhooks checks permission, organization and If-Match', async () => {
    const bo = await createSubscriber(eventTypes);
    const [owner, editor] = [await context.member(bo), await context.member(bo)];
    const { id } = await context.create(owner);
    await context.set(id, { editor_id: editor.id });
    for (const member of [editor, await context.member(bo)])
      expect(outcome(await fire(member, id, eventTypes[0]))).toEqual([403, 'forbidden']);
    for (const documentId of [id, newId()])
      expect(outcome(await fire(ada, documentId, eventTypes[0]))).toEqual([404, 'not_found']);
    expect(outcome(await fire(owner, id, eventTypes[0], { 'if-match': '"0"' }))[0]).toBe(412);
    expect(await lifecycle.publishedEvents(id)).toEqual([]);
    expect((await fire(owner, id, eventTypes[0], { 'if-match': '"1"' })).body).toEqual({ dispatched: true });
  });
});
