/** Deleting drafts and duplicating documents over HTTP with a real MongoDB. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { identity } from '../identity/service.ts';
import { Document, DocumentDeleted, type Node } from './contract.ts';
import { documents } from './service.ts';
import { findNode, outcome, toTreeInput } from './testing/outline.ts';
import { type TestContext, type TestMember, testContext } from './testing/test-context.ts';

let context: TestContext;
let ada: TestMember;

beforeAll(async () => {
  context = await testContext([identity, documents]);
  ada = await context.admin();
}, 60_000);
afterAll(() => context?.app.stop());

const remove = (id: string, member = ada, headers = {}) =>
  context.request(member, 'DELETE', id, undefined, headers);
const duplicate = (id: string, member = ada, headers = {}) =>
  context.request(member, 'POST', `${id}/duplicate`, undefined, headers);
const countNodes = (id: string) => context.app.db.collection('nodes').countDocuments({ document_id: id });
const findDeletions = async (id: string) => {
  const rows = await context.app.db
    .collection('documents_outbox')
    .find({ type: 'document.deleted' })
    .toArray();
  return rows.map(({ event }) => JSON.parse(event)).filter(({ data }) => data.document.id === id);
};

describe('deleting', () => {
  test('a draft is gone for good with its nodes, and that is said once', async () => {
    const made = await context.create(ada, {
      title: 'T',
      version: '1',
      nodes: toTreeInput([['A', ['A1']], 'B']),
    });
    const { status, bytes } = await remove(made.id);
    expect([status, bytes.length]).toEqual([204, 0]);
    expect(outcome(await context.request(ada, 'GET', made.id))).toEqual([404, 'not_found']);
    expect(outcome(await remove(made.id))).toEqual([404, 'not_found']);
    expect(await countNodes(made.id)).toBe(0);
    const { nodes: _, ...summary } = made;
    const said = await findDeletions(made.id);
    expect(said).toHaveLength(1);
    expect(said[0]).toMatchObject({ actor_id: ada.id, data: { document: summary } });
    expect(DocumentDeleted.data.parse(said[0].data)).toEqual({ document: summary });
    const list = (await context.app.request('GET', '/documents', { as: ada.as })).body;
    expect(list.map(({ id }: { id: string }) => id)).not.toContain(made.id);
  });

  test('published and archived documents are kept', async () => {
    const { id } = await context.create(ada, { title: 'T', nodes: toTreeInput(['A']) });
    await context.request(ada, 'POST', `${id}/publish`);
    expect(outcome(await remove(id))).toEqual([400, 'document_not_draft']);
    await context.set(id, { status: 'archived' });
    expect(outcome(await remove(id))).toEqual([400, 'document_not_draft']);
    expect(await countNodes(id)).toBe(1);
    expect(await findDeletions(id)).toEqual([]);
  });

  test('the owner and an admin may; the editor and others get 403, strangers 404', async () => {
    const [owner, editor, bystander, stranger] = [
      await context.member(ada),
      await context.member(ada),
      await context.member(ada),
      await context.admin(),
    ];
    const { id } = await context.create(owner);
    await context.set(id, { editor_id: editor.id });
    for (const member of [editor, bystander])
      expect(outcome(await remove(id, member))).toEqual([403, 'forbidden']);
    expect(outcome(await remove(id, stranger))).toEqual([404, 'not_found']);
    expect(outcome(await remove(id, owner, { 'if-match': '"7"' }))).toEqual([412, 'precondition_failed']);
    expect((await remove(id, owner, { 'if-match': '"1"' })).status).toBe(204);
    expect((await remove((await context.create(owner)).id)).status).toBe(204);
  });
});

describe('duplicating', () => {
  /** A tree without what a copy has of its own. */
  const withoutIds = (nodes: Node[]): unknown[] =>
    nodes.map(({ node_type, title, content, order, children }) => ({
      node_type,
      title,
      content,
      order,
      children: withoutIds(children),
    }));

  test('any member gets a draft of their own with the same fields and tree, from a document in any state', async () => {
    const member = await context.member(ada);
    const content = { type: 'doc', content: [{ type: 'text', text: 'é' }] };
    const tie = (title: string) => ({ node_type: 'section', title, order: 5, content });
    const nodes = [tie('first'), tie('second'), ...toTreeInput([['A', [['A1', ['a']], 'A2']]])];
    const original = await context.create(ada, { title: 'T', version: '3', department: 'Ops', nodes });
    await context.set(original.id, { editor_id: ada.id, parent_doc_id: newId(), share_epoch: 4 });
    for (const status of ['draft', 'published', 'archived']) {
      await context.set(original.id, { status, published_at: status === 'draft' ? null : new Date() });
      const told = await duplicate(original.id, member);
      expect([told.status, told.headers.get('etag')]).toEqual([201, '"1"']);
      const copy = Document.parse(told.body);
      expect(copy).toMatchObject({
        title: 'T',
        version: '3',
        department: 'Ops',
        status: 'draft',
        created_by: member.id,
        editor_id: null,
        parent_doc_id: null,
        published_at: null,
        archived_at: null,
      });
      expect(withoutIds(copy.nodes)).toEqual(withoutIds(original.nodes));
      expect(JSON.stringify(copy)).not.toContain(original.id);
      expect(findNode(copy.nodes, 'a')).toMatchObject({ created_by: member.id, document_id: copy.id });
      expect((await context.request(member, 'GET', copy.id)).body).toEqual(told.body);
      const row = await context.app.db.collection<{ _id: string }>('documents').findOne({ _id: copy.id });
      expect(row).toMatchObject({ family_id: copy.id, share_epoch: 0, node_count: 6 });
      expect(row).toMatchObject({ content_bytes: 2 * Buffer.byteLength(JSON.stringify(content)) });
    }
    // the copy lives on its own
    const { body: last } = await duplicate(original.id, member);
    expect((await remove(last.id, member)).status).toBe(204);
    expect(await countNodes(original.id)).toBe(6);
  });

  test('strangers get 404; If-Match is honoured; the key makes one', async () => {
    const { id } = await context.create(ada, { title: 'Once only', nodes: toTreeInput(['A']) });
    expect(outcome(await duplicate(id, await context.admin()))).toEqual([404, 'not_found']);
    expect(outcome(await duplicate(id, ada, { 'if-match': '"2"' }))).toEqual([412, 'precondition_failed']);
    const headers = { 'if-match': '"1"', 'idempotency-key': newId() };
    const [first, second] = [await duplicate(id, ada, headers), await duplicate(id, ada, headers)];
    expect([first.status, second.status, second.body]).toEqual([201, 201, first.body]);
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    await remove(id);
    expect((await duplicate(id, ada, headers)).status).toBe(404);
  });
});
