/** Tests the event `document.updated` over HTTP with a real MongoDB and a clock that the tests advance. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '#libs/testing';
import { DocumentSummary } from './contract.ts';
import { type LifecycleClient, lifecycleClient } from './testing/lifecycle.ts';
import { type TestContext, type TestMember, testContextFor } from './testing/test-context.ts';
import { type ClockedContext, contentWrites, openClockedContext } from './testing/update-events.ts';

let context: ClockedContext;
let lifecycle: LifecycleClient;
let ada: TestMember;

beforeAll(async () => {
  context = await openClockedContext();
  lifecycle = lifecycleClient(context);
  ada = await context.admin();
});
afterAll(() => context?.app.stop());

const withNodes = { title: 'SOP', nodes: ['A', 'B'].map((title) => ({ node_type: 'section', title })) };
const change = async (id: string, title = 'Changed', at: TestContext = context) =>
  expect((await at.request(ada, 'PATCH', id, { title })).status).toBe(200);
const countUpdates = async (id: string) => (await lifecycle.updates(id)).length;

describe('changes of a published document', () => {
  test('changes within 5 s cause one event with the last state, by the system', async () => {
    const document = await lifecycle.createPublished(ada, withNodes);
    for (let at = 0; at < 5; at += 1) {
      await change(document.id, `Title ${at}`);
      for (const write of [contentWrites['POST of a node'], contentWrites['PATCH of a node']])
        expect((await write?.(context, ada, document))?.status).toBeLessThan(300);
    }
    const dueAt = new Date(context.now().getTime() + 5_000);
    await context.advance(4_999);
    expect(await lifecycle.updates(document.id)).toEqual([]);
    await context.advance(1);
    const [event, ...others] = await lifecycle.updates(document.id);
    const { nodes: _, ...summary } = await lifecycle.get(ada, document.id);
    expect(others).toEqual([]);
    expect(event).toMatchObject({
      type: 'document.updated',
      occurred_at: dueAt.toISOString(),
      organization_id: document.organization_id,
      actor_id: null,
    });
    expect([event?.data, summary.title]).toEqual([{ document: summary }, 'Title 4']);
    expect(DocumentSummary.parse(event?.data.document)).toEqual(summary);
  });

  test('a change after an event causes another event at least 5 s later', async () => {
    const { id } = await lifecycle.createPublished(ada);
    await change(id);
    await context.advance(5_000);
    await change(id, 'Changed again');
    await context.advance(4_999);
    expect(await countUpdates(id)).toBe(1);
    await context.advance(1);
    const times = (await lifecycle.updates(id)).map(({ occurred_at }) => Date.parse(occurred_at));
    expect(times.map((time) => time - (times[0] ?? 0))).toEqual([0, 5_000]);
  });

  test('continuous changes are announced every 5 s and after the last one', async () => {
    const { id } = await lifecycle.createPublished(ada);
    for (let at = 0; at <= 10; at += 1) {
      await change(id, `Title ${at}`);
      await context.advance(1_000);
    }
    await context.advance(5_000);
    const titles = (await lifecycle.updates(id)).map(({ data }) => data.document.title);
    expect(titles).toEqual(['Title 4', 'Title 9', 'Title 10']);
  });

  test.each(Object.entries(contentWrites))('a change by %s is announced', async (_name, write) => {
    const document = await lifecycle.createPublished(ada, withNodes);
    expect((await write(context, ada, document)).status).toBeLessThan(300);
    await context.advance(5_000);
    expect(await countUpdates(document.id)).toBe(1);
  });

  test('publishing the event does not change the ETag and updated_at', async () => {
    const { id } = await lifecycle.createPublished(ada);
    await change(id);
    const before = await context.request(ada, 'GET', id);
    await context.advance(5_000);
    const after = await context.request(ada, 'GET', id);
    expect(await countUpdates(id)).toBe(1);
    expect([after.headers.get('etag'), after.body]).toEqual([before.headers.get('etag'), before.body]);
  });
});

describe('no event is due', () => {
  test.each(Object.entries(contentWrites))(
    'no event is due after a draft is changed by %s',
    async (_name, write) => {
      const draft = await context.create(ada, withNodes);
      expect((await write(context, ada, draft)).status).toBeLessThan(300);
      expect(await context.row(draft.id)).not.toHaveProperty('update_event_due_at');
      await lifecycle.publish(ada, draft.id);
      await context.advance(5_000);
      expect(await lifecycle.updates(draft.id)).toEqual([]);
    },
  );

  test('no event is due after an assignment, a revision or a trigger', async () => {
    const { id } = await lifecycle.createPublished(ada);
    await context.request(ada, 'PATCH', `${id}/editor`, { editor_id: ada.id });
    await lifecycle.createRevision(ada, id);
    await context.request(ada, 'POST', `${id}/trigger-webhooks`, { event_type: 'document.published' });
    expect((await context.request(ada, 'PATCH', id, { title: 'T' }, { 'if-match': '"0"' })).status).toBe(412);
    expect(await context.row(id)).not.toHaveProperty('update_event_due_at');
  });

  test('no event is due for a revision or copy of a changed document', async () => {
    const { id } = await lifecycle.createPublished(ada);
    await change(id);
    const copy = await context.request(ada, 'POST', `${id}/duplicate`);
    for (const draft of [await lifecycle.createRevision(ada, id), copy.body])
      expect(await context.row(draft.id)).not.toHaveProperty('update_event_due_at');
    expect(await context.row(id)).toHaveProperty('update_event_due_at');
  });

  test('no event is published after the changed document is archived', async () => {
    const { id } = await lifecycle.createPublished(ada);
    await change(id);
    await lifecycle.archive(ada, id);
    await context.advance(5_000);
    expect(await lifecycle.updates(id)).toEqual([]);
    expect(await context.row(id)).not.toHaveProperty('update_event_due_at');
  });

  test('no event is published after the changed document is superseded', async () => {
    const { id } = await lifecycle.createPublished(ada);
    await change(id);
    const revision = await lifecycle.createRevision(ada, id);
    await lifecycle.publish(ada, revision.id);
    await context.advance(5_000);
    expect(await lifecycle.updates(id, revision.id)).toEqual([]);
  });
});

describe('delivery of update events', () => {
  test('a due event is published after the service restarts', async () => {
    const { id } = await lifecycle.createPublished(ada);
    await change(id);
    await context.app.restart();
    await context.advance(5_000);
    expect(await countUpdates(id)).toBe(1);
  });

  test('an event that cannot be written for a while is published later', async () => {
    const [broken, sound] = [await lifecycle.createPublished(ada), await lifecycle.createPublished(ada)];
    await change(broken.id);
    await change(sound.id);
    const { update_event_due_at } = (await context.row(broken.id)) ?? {};
    // the event schema rejects this creator, so the publish fails after the due time is removed
    await context.set(broken.id, { created_by: 'nobody' });
    const advanced = context.advance(5_000);
    const message = `Could not publish the update event of document ${broken.id}`;
    await until('the error', async () => context.app.logLines().some(({ msg }) => msg === message));
    await until('the other event', async () => (await countUpdates(sound.id)) === 1);
    expect((await context.row(broken.id))?.update_event_due_at).toEqual(update_event_due_at);
    await context.set(broken.id, { created_by: ada.id });
    await advanced;
    expect(await countUpdates(broken.id)).toBe(1);
  });

  test('several replicas publish each event once', async () => {
    const replica = testContextFor({ ...context.app, ...(await context.app.replica()) });
    const published = await Promise.all(Array.from({ length: 24 }, () => lifecycle.createPublished(ada)));
    await Promise.all(published.map(({ id }, at) => change(id, 'Changed', at % 2 ? context : replica)));
    await context.advance(5_000);
    expect(await Promise.all(published.map(({ id }) => countUpdates(id)))).toEqual(published.map(() => 1));
  });
});
