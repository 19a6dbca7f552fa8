/** Firing an event of a document again, over HTTP with a real MongoDB. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { until } from '#libs/testing';
import { services } from '../services.ts';
import { type LifecycleClient, lifecycleClient, outcome } from './testing/lifecycle.ts';
import { type TestContext, type TestMember, testContext } from './testing/test-context.ts';

let home: TestContext;
let life: LifecycleClient;
let ada: TestMember;

beforeAll(async () => {
  home = await testContext(services);
  life = lifecycleClient(home);
  ada = await home.admin();
}, 60_000);
afterAll(() => home?.app.stop());

const kinds = ['document.published', 'document.revised', 'document.archived'];
const fire = (who: TestMember, id: string, event_type: unknown, headers = {}) =>
  home.request(who, 'POST', `${id}/trigger-webhooks`, { event_type }, headers);

/** An admin whose organization has a webhook for these events. */
async function subscribed(event_types: string[]): Promise<TestMember & { webhook: string }> {
  const admin = await home.admin();
  const body = { name: 'Hook', url: 'http://127.0.0.1:9/', event_types };
  const made = await home.app.request('POST', '/webhooks', { as: admin.as, body });
  return { ...admin, webhook: made.body.id };
}

describe('with a webhook that wants it', () => {
  test.each(kinds)('%s is fired again in any state, with the document as it is', async (kind) => {
    const bo = await subscribed(kinds);
    const { id } = await home.create(bo);
    const steps = [undefined, life.publish, life.archive];
    for (const step of steps) {
      await step?.(bo, id);
      const before = await home.request(bo, 'GET', id);
      const told = await fire(bo, id, kind);
      expect([told.status, told.body]).toEqual([202, { dispatched: true }]);
      const { nodes: _, ...summary } = before.body;
      const event = (await life.publishedEvents(id)).at(-1);
      expect([event?.type, event?.data]).toEqual([kind, { document: summary, refired: true }]);
      const after = await home.request(bo, 'GET', id);
      expect([after.body, after.headers.get('etag')]).toEqual([before.body, before.headers.get('etag')]);
    }
    expect(await life.countPublished(id)).toBe(1);
  });

  test('it goes out to the webhook, and into nobody’s inbox', async () => {
    const bo = await subscribed(['document.archived']);
    const owner = await home.member(bo);
    const { id } = await home.create(owner);
    await fire(bo, id, 'document.archived');
    const log = () => home.app.request('GET', '/webhooks/events', { as: bo.as });
    await until('an entry in the log', async () => (await log()).body.length === 1);
    const [entry] = (await log()).body;
    expect(entry).toMatchObject({ event_type: 'document.archived', document_id: id });
    const body = home.app.db.collection<{ _id: string; body: string }>('webhook_events');
    const sent = JSON.parse((await body.findOne({ _id: entry.event_id }))?.body ?? '{}');
    expect(sent.data.refired).toBe(true);
    await until('everybody has heard it', async () => {
      const rows = home.app.db.collection<{ _id: string }>('documents_outbox');
      return (await rows.findOne({ _id: entry.event_id, pending: { $exists: false } })) !== null;
    });
    const inbox = await home.app.request('GET', '/inbox', { as: owner.as });
    expect(inbox.body.filter(({ type }: { type: string }) => type.startsWith('document.'))).toEqual([]);
  });

  test('the same Idempotency-Key fires once', async () => {
    const bo = await subscribed(kinds);
    const { id } = await home.create(bo);
    const keyed = { 'idempotency-key': newId() };
    for (let times = 0; times < 2; times += 1)
      expect((await fire(bo, id, 'document.published', keyed)).body).toEqual({ dispatched: true });
    expect(await life.publishedEvents(id)).toHaveLength(1);
  });
});

describe('nothing is said and nothing dispatched', () => {
  test('without a webhook, with one for other events, and with one that is switched off', async () => {
    const bo = await subscribed(['document.archived']);
    const { id } = await home.create(bo);
    expect((await fire(bo, id, 'document.published')).body).toEqual({ dispatched: false });
    const configs = home.app.db.collection<{ _id: string }>('webhook_configs');
    await configs.updateOne({ _id: bo.webhook }, { $set: { is_active: false } });
    expect((await fire(bo, id, 'document.archived')).body).toEqual({ dispatched: false });
    const other = await home.create(ada);
    const told = await fire(ada, other.id, 'document.published');
    expect([told.status, told.body]).toEqual([202, { dispatched: false }]);
    expect(await life.publishedEvents(id, other.id)).toEqual([]);
  });

  test('while the plan is not Scale: webhooks are kept and skipped', async () => {
    const bo = await subscribed(kinds);
    const { id, organization_id } = await home.create(bo);
    await life.setPlan(organization_id, 'team');
    expect((await fire(bo, id, 'document.published')).body).toEqual({ dispatched: false });
    expect(await life.publishedEvents(id)).toEqual([]);
    await life.setPlan(organization_id, 'scale');
    expect((await fire(bo, id, 'document.published')).body).toEqual({ dispatched: true });
  });
});

describe('refused are', () => {
  test('other events and other forms', async () => {
    const { id } = await home.create(ada);
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

  test('whoever does not own it and is no admin, strangers, and an ETag of the past', async () => {
    const bo = await subscribed(kinds);
    const [owner, editor] = [await home.member(bo), await home.member(bo)];
    const { id } = await home.create(owner);
    await home.set(id, { editor_id: editor.id });
    for (const who of [editor, await home.member(bo)])
      expect(outcome(await fire(who, id, kinds[0]))).toEqual([403, 'forbidden']);
    for (const which of [id, newId()])
      expect(outcome(await fire(ada, which, kinds[0]))).toEqual([404, 'not_found']);
    expect(outcome(await fire(owner, id, kinds[0], { 'if-match': '"0"' }))[0]).toBe(412);
    expect(await life.publishedEvents(id)).toEqual([]);
    expect((await fire(owner, id, kinds[0], { 'if-match': '"1"' })).body).toEqual({ dispatched: true });
  });
});
