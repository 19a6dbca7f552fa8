/** The event `document.updated`, over HTTP with a real MongoDB and a clock that the tests move. */
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
}, 60_000);
afterAll(() => context?.app.stop());

const withNodes = { title: 'SOP', nodes: ['A', 'B'].map((title) => ({ node_type: 'section', title })) };
const change = async (id: string, title = 'Changed', at: TestContext = context) =>
  expect((await at.request(ada, 'PATCH', id, { title })).status).toBe(200);
const countUpdates = async (id: string) => (await lifecycle.updates(id)).length;

describe('changes of a published document', () => {
  test('within 5 s give one event with the last state, by the system', async () => {
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

  test('after an event give another event, at least 5 s later', async () => {
    const { id } = await lifecycle.createPublished(ada);
    await change(id);
    await context.advance(5_000);
    await change(id);
    await context.advance(4_999);
    expect(await countUpdates(id)).toBe(1);
    await context.advance(1);
    const times = (await lifecycle.updates(id)).map(({ occurred_at }) => Date.parse(occurred_at));
    expect(times.map((time) => time - (times[0] ?? 0))).toEqual([0, 5_000]);
  });

  test('that never pause are announced every 5 s and after the last one', async () => {
    const { id } = await lifecycle.createPublished(ada);
    for (let at = 0; at <= 10; at += 1) {
      await change(id, `Title ${at}`);
      await context.advance(1_000);
    }
    await context.advance(5_000);
    const titles = (await lifecycle.updates(id)).map(({ data }) => data.document.title);
    expect(titles).toEqual(['Title 4', 'Title 9', 'Title 10']);
  });

  test.each(Object.entries(contentWrites))('are announced if they are a %s', async (_name, write) => {
    const document = await lifecycle.createPublished(ada, withNodes);
    expect((await write(context, ada, document)).status).toBeLessThan(300);
    await context.advance(5_000);
    expect(await countUpdates(document.id)).toBe(1);
  });

  test('keep their ETag and updated_at when the event is written', async () => {
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
  test.each(Object.entries(contentWrites))('after a %s of a draft', async (_name, write) => {
    const draft = await context.create(ada, withNodes);
    expect((await write(context, ada, draft)).status).toBeLessThan(300);
    expect(await context.row(draft.id)).not.toHaveProperty('update_event_due_at');
    await lifecycle.publish(ada, draft.id);
    await context.advance(5_000);
    expect(await lifecycle.updates(draft.id)).toEqual([]);
  });

  test('after an assignment, a revision, a trigger or a refused change', async () => {
    const { id } = await lifecycle.createPublished(ada);
    await context.request(ada, 'PATCH', `${id}/editor`, { editor_id: ada.id });
    await lifecycle.createRevision(ada, id);
    await context.request(ada, 'POST', `${id}/trigger-webhooks`, { event_type: 'document.published' });
    expect((await context.request(ada, 'PATCH', id, { title: 'T' }, { 'if-match': '"0"' })).status).toBe(412);
    expect(await context.row(id)).not.toHaveProperty('update_event_due_at');
  });

  test('for a revision or a copy of a document with a due event', async () => {
    const { id } = await lifecycle.createPublished(ada);
    await change(id);
    const copy = await context.request(ada, 'POST', `${id}/duplicate`);
    for (const draft of [await lifecycle.createRevision(ada, id), copy.body])
      expect(await context.row(draft.id)).not.toHaveProperty('update_event_due_at');
    expect(await context.row(id)).toHaveProperty('update_event_due_at');
  });

  test('after a document with a due event is archived', async () => {
    const { id } = await lifecycle.createPublished(ada);
    await change(id);
    await lifecycle.archive(ada, id);
    await context.advance(5_000);
    expect(await lifecycle.updates(id)).toEqual([]);
    expect(await context.row(id)).not.toHaveProperty('update_event_due_at');
  });

  test('after a document with a due event is superseded', async () => {
    const { id } = await lifecycle.createPublished(ada);
    await change(id);
    const revision = await lifecycle.createRevision(ada, id);
    await lifecycle.publish(ada, revision.id);
    await context.advance(5_000);
    expect(await lifecycle.updates(id, revision.id)).toEqual([]);
  });
});

describe('nothing is lost or sent twice', () => {
  test('when the service restarts before the event is due', async () => {
    const { id } = await lifecycle.createPublished(ada);
    await change(id);
    await context.app.restart();
    await context.advance(5_000);
    expect(await countUpdates(id)).toBe(1);
  }, 30_000);

  test('when an event cannot be written for a while', async () => {
    const [broken, sound] = [await lifecycle.createPublished(ada), await lifecycle.createPublished(ada)];
    await change(broken.id);
    await change(sound.id);
    const { update_event_due_at } = (await context.row(broken.id)) ?? {};
    // no summary has such a creator, so the event is refused after its due time is removed
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

  test('when several replicas run', async () => {
    const replica = testContextFor({ ...context.app, ...(await context.app.replica()) });
    const made = await Promise.all(Array.from({ length: 24 }, () => lifecycle.createPublished(ada)));
    await Promise.all(made.map(({ id }, at) => change(id, 'Changed', at % 2 ? context : replica)));
    await context.advance(5_000);
    expect(await Promise.all(made.map(({ id }) => countUpdates(id)))).toEqual(made.map(() => 1));
  }, 30_000);
});
