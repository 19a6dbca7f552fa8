/** Tests the assignment and removal of editors over HTTP with a real MongoDB. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { until } from '#libs/testing';
import { services } from '../testing/services.ts';
import { Document } from './contract.ts';
import { outcome } from './testing/lifecycle.ts';
import { type LifecycleFixture, lifecycleFixture } from './testing/lifecycle-fixture.ts';
import type { TestMember } from './testing/test-context.ts';

let { context, lifecycle, ada, owner, editor, bystander, stranger } = {} as LifecycleFixture;

beforeAll(async () => {
  ({ context, lifecycle, ada, owner, editor, bystander, stranger } = await lifecycleFixture(services));
});
afterAll(() => context?.app.stop());

const assign = (member: TestMember, id: string, editor_id: unknown, headers = {}) =>
  context.request(member, 'PATCH', `${id}/editor`, { editor_id }, headers);
const removeMember = (member: TestMember) =>
  context.app.request('DELETE', `/members/${member.id}`, { as: ada.as });
const getEditor = async (id: string) => (await lifecycle.get(ada, id)).editor_id;
const waitUntilCleared = (id: string) => until('no editor', async () => (await getEditor(id)) === null);

describe('assignEditor', () => {
  test('assignEditor sets an editor, who may edit, and publishes an event', async () => {
    const document = await context.create(ada, { title: 'T', nodes: [{ node_type: 'section', title: 'S' }] });
    const edit = () => context.request(editor, 'PATCH', document.id, { title: 'Edited' });
    expect((await edit()).status).toBe(403);
    const { status, body, headers } = await assign(ada, document.id, editor.id);
    expect([status, headers.get('etag')]).toEqual([200, '"2"']);
    expect(Document.parse(body)).toEqual({
      ...document,
      editor_id: editor.id,
      updated_at: body.updated_at,
    });
    expect(await lifecycle.get(ada, document.id)).toEqual(body);
    const { nodes: _, ...summary } = body;
    const [event, ...more] = await lifecycle.publishedEvents(document.id);
    expect([event?.type, event?.data, more]).toEqual([
      'document.assigned',
      { document: summary, editor_id: editor.id },
      [],
    ]);
    expect((await edit()).status).toBe(200);
    expect((await lifecycle.publish(editor, document.id)).status).toBe(403);
  });

  test('assignEditor with null removes the editor and publishes it once', async () => {
    const { id } = await context.create(ada);
    await assign(ada, id, editor.id);
    const { status, body } = await assign(ada, id, null);
    expect([status, body.editor_id]).toEqual([200, null]);
    expect((await context.request(editor, 'PATCH', id, { title: 'Edited' })).status).toBe(403);
    expect((await assign(ada, id, null)).status).toBe(200);
    const [, event, ...more] = await lifecycle.publishedEvents(id);
    const { nodes: _, ...summary } = body;
    expect([event?.type, event?.data, more]).toEqual([
      'document.unassigned',
      { document: summary, before: editor.id },
      [],
    ]);
  });

  test('assigning the same editor again publishes another event', async () => {
    const { id } = await context.create(ada);
    for (const etag of ['"2"', '"3"'])
      expect((await assign(ada, id, editor.id)).headers.get('etag')).toBe(etag);
    const events = await lifecycle.publishedEvents(id);
    expect(events.map(({ data }) => data.editor_id)).toEqual([editor.id, editor.id]);
  });

  test('assignEditor accepts drafts and published documents, not archived ones', async () => {
    const { id } = await lifecycle.createPublished(ada);
    expect((await assign(ada, id, ada.id)).status).toBe(200);
    await lifecycle.archive(ada, id);
    for (const editor of [ada.id, null, newId()])
      expect(outcome(await assign(ada, id, editor))).toEqual([400, 'document_archived']);
    expect(await getEditor(id)).toBe(ada.id);
  });

  test('assignEditor fails with 400 unless the editor is a member', async () => {
    const { id } = await context.create(ada);
    for (const editor of [newId(), stranger.id])
      expect(outcome(await assign(ada, id, editor))).toEqual([400, 'editor_not_member']);
    for (const editor of ['nobody', 7, undefined, ''])
      expect(outcome(await assign(ada, id, editor))).toEqual([400, 'invalid_request']);
    expect([await getEditor(id), await lifecycle.publishedEvents(id)]).toEqual([null, []]);
  });

  test('assignEditor allows owner and admin and checks 412 before the editor', async () => {
    const { id } = await context.create(owner);
    expect((await assign(owner, id, editor.id, { 'if-match': '"1"' })).status).toBe(200);
    expect(outcome(await assign(owner, id, newId(), { 'if-match': '"1"' }))).toEqual([
      412,
      'precondition_failed',
    ]);
    for (const member of [editor, bystander])
      expect(outcome(await assign(member, id, member.id))).toEqual([403, 'forbidden']);
    expect(outcome(await assign(stranger, id, stranger.id))).toEqual([404, 'not_found']);
    expect(await getEditor(id)).toBe(editor.id);
  });
});

describe('removal of a member', () => {
  test('a removed member is cleared as editor in every status, with a new ETag', async () => {
    const [draft, published, archived] = [
      await context.create(ada),
      await lifecycle.createPublished(ada),
      await lifecycle.createPublished(ada),
    ];
    const other = await context.create(ada);
    for (const { id } of [draft, published, archived]) await assign(ada, id, editor.id);
    await assign(ada, other.id, bystander.id);
    await lifecycle.archive(ada, archived.id);
    const before = await context.request(ada, 'GET', archived.id);
    expect((await removeMember(editor)).status).toBe(204);
    for (const { id } of [draft, published, archived]) await waitUntilCleared(id);
    const after = await context.request(ada, 'GET', archived.id);
    expect([before, after].map(({ headers }) => headers.get('etag'))).toEqual(['"4"', '"5"']);
    expect(after.body.updated_at > before.body.updated_at).toBe(true);
    expect(await getEditor(other.id)).toBe(bystander.id);
    expect(outcome(await assign(ada, draft.id, editor.id))).toEqual([400, 'editor_not_member']);
    await rejoin(editor);
  });

  test('a removed member stays the editor in other organizations', async () => {
    const [here, there] = [await context.create(ada), await context.create(stranger)];
    await assign(ada, here.id, editor.id);
    await context.set(there.id, { editor_id: editor.id });
    await removeMember(editor);
    await waitUntilCleared(here.id);
    expect((await lifecycle.get(stranger, there.id)).editor_id).toBe(editor.id);
    await rejoin(editor);
  });

  test('a member removed during an assignment never remains the editor', async () => {
    const statuses = new Set<number>();
    for (let round = 0; round < 12 || (statuses.size < 2 && round < 60); round += 1) {
      const { id } = await context.create(ada);
      // delays one of the two requests by an increasing number of reads
      const delay = async <R>(work: () => Promise<R>, reads: number) => {
        for (let remaining = reads; remaining > 0; remaining -= 1) await context.request(ada, 'GET', id);
        return work();
      };
      const [assigned] = await Promise.all([
        delay(() => assign(ada, id, editor.id), round % 2 ? round / 2 : 0),
        delay(() => removeMember(editor), round % 2 ? 0 : round / 2),
      ]);
      expect([
        [200, undefined],
        [400, 'editor_not_member'],
      ]).toContainEqual(outcome(assigned));
      statuses.add(assigned.status);
      await waitUntilCleared(id);
      await rejoin(editor);
    }
    expect([...statuses].sort()).toEqual([200, 400]);
  });

  test('redelivery of document.assigned clears an editor who was removed', async () => {
    const { id } = await context.create(ada);
    await assign(ada, id, editor.id);
    await removeMember(editor);
    await waitUntilCleared(id);
    await context.set(id, { editor_id: editor.id });
    const [assigned] = await lifecycle.publishedEvents(id);
    await redeliver('documents_outbox', assigned?.id);
    await waitUntilCleared(id);
    await rejoin(editor);
  });

  test('redelivery of member.removed does not clear an editor who rejoined', async () => {
    const { id } = await context.create(ada);
    await assign(ada, id, editor.id);
    await removeMember(editor);
    await waitUntilCleared(id);
    await rejoin(editor);
    expect((await assign(ada, id, editor.id)).status).toBe(200);
    const rows = context.app.db.collection<OutboxRow>('identity_outbox');
    const removals = await rows.find({ type: 'member.removed' }).sort({ _id: -1 }).toArray();
    await redeliver('identity_outbox', removals[0]?._id);
    expect(await getEditor(id)).toBe(editor.id);
  });

  test('a late member.removed clears only what was assigned before it', async () => {
    const [before, after] = [await context.create(ada), await context.create(ada)];
    const revised = await lifecycle.createPublished(ada);
    await assign(ada, before.id, editor.id);
    for (const { id } of [before, revised])
      await context.request(ada, 'PATCH', `${id}/review`, { reviewer_id: editor.id });
    const removed_at = new Date();
    await assign(ada, after.id, editor.id);
    const revision = await lifecycle.createRevision(ada, revised.id);
    // the member was removed and has joined again
    await publishRemoval(editor, removed_at);
    await waitUntilCleared(before.id);
    expect(await getEditor(after.id)).toBe(editor.id);
    // all versions of a document have the same reviewer
    const all = await Promise.all([before, revised, revision].map(({ id }) => lifecycle.get(ada, id)));
    expect(all.map(({ review }) => review?.reviewer_id)).toEqual([undefined, editor.id, editor.id]);
  });
});

interface OutboxRow {
  _id: string;
  type: string;
}

/** Publishes a `member.removed` event for a member of Ada's organization, who stays a member. */
async function publishRemoval({ id }: TestMember, removed_at: Date): Promise<void> {
  const outbox = context.app.db.collection<OutboxRow & Record<string, unknown>>('identity_outbox');
  const last = await outbox.findOne({ type: 'member.removed', event: { $regex: id } });
  const _id = newId();
  const removal = { ...JSON.parse(`${last?.event}`), id: _id, occurred_at: removed_at.toISOString() };
  const pending = { pending: true, lease_until: new Date(0), failures: 0, created_at: removed_at };
  await outbox.insertOne({ _id, type: 'member.removed', event: JSON.stringify(removal), ...pending });
}

/** Publishes an event of the outbox once more. */
async function redeliver(outbox: string, _id = ''): Promise<void> {
  const rows = context.app.db.collection<OutboxRow>(outbox);
  const findPublished = () => rows.findOne({ _id, pending: { $exists: false } });
  await until('the event is published', async () => (await findPublished()) !== null);
  await rows.updateOne(
    { _id },
    { $set: { pending: true, lease_until: new Date(0) }, $unset: { published_at: 1 } },
  );
  await until('the event is published again', async () => (await findPublished()) !== null);
}

/** Adds a user to Ada's organization again. */
async function rejoin({ id: user_id }: TestMember): Promise<void> {
  const { organization_id } = await context.create(ada);
  const member = { organization_id, user_id, role: 'member', department: null, joined_at: new Date() };
  const rows = context.app.db.collection<{ _id: string }>('members');
  await rows.insertOne({ _id: `${organization_id}:${user_id}`, ...member });
}
