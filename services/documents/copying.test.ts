/** Tests the deletion of drafts and the duplication of documents over HTTP with a real MongoDB. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { identity } from '../testing/services.ts';
import { Document, DocumentDeleted, type Node } from './contract.ts';
import { documents } from './service.ts';
import { outcome } from './testing/lifecycle.ts';
import { findNode, toTreeInput } from './testing/outline.ts';
import { type TestContext, type TestMember, testContext } from './testing/test-context.ts';

let context: TestContext;
let ada: TestMember;

beforeAll(async () => {
  context = await testContext([identity, documents]);
  ada = await context.admin();
});
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

describe('deleteDocument', () => {
  test('deleteDocument removes a draft with its nodes and publishes one event', async () => {
    const document = await context.create(ada, {
      title: 'T',
      version: '1',
      nodes: toTreeInput([['A', ['A1']], 'B']),
    });
    const { status, bytes } = await remove(document.id);
    expect([status, bytes.length]).toEqual([204, 0]);
    expect(outcome(await context.request(ada, 'GET', document.id))).toEqual([404, 'not_found']);
    expect(outcome(await remove(document.id))).toEqual([404, 'not_found']);
    expect(await countNodes(document.id)).toBe(0);
    const { nodes: _, ...summary } = document;
    const events = await findDeletions(document.id);
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({ actor_id: ada.id, data: { document: summary } });
    expect(DocumentDeleted.data.parse(events[0].data)).toEqual({ document: summary });
    const list = (await context.app.request('GET', '/documents', { as: ada.as })).body;
    expect(list.map(({ id }: { id: string }) => id)).not.toContain(document.id);
  });

  test('deleteDocument fails for published and archived documents', async () => {
    const { id } = await context.create(ada, { title: 'T', nodes: toTreeInput(['A']) });
    await context.request(ada, 'POST', `${id}/publish`);
    expect(outcome(await remove(id))).toEqual([400, 'document_not_draft']);
    await context.set(id, { status: 'archived' });
    expect(outcome(await remove(id))).toEqual([400, 'document_not_draft']);
    expect(await countNodes(id)).toBe(1);
    expect(await findDeletions(id)).toEqual([]);
  });

  test('deleteDocument allows the owner and an admin', async () => {
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

describe('duplicateDocument', () => {
  /** Omits the fields of a tree that differ in a copy. */
  const withoutIds = (nodes: Node[]): unknown[] =>
    nodes.map(({ node_type, title, content, order, children }) => ({
      node_type,
      title,
      content,
      order,
      children: withoutIds(children),
    }));

  test('duplicateDocument copies a document in any status for any member', async () => {
    const member = await context.member(ada);
    const content = { type: 'doc', content: [{ type: 'text', text: 'é' }] };
    const tie = (title: string) => ({ node_type: 'section', title, order: 5, content });
    const nodes = [tie('first'), tie('second'), ...toTreeInput([['A', [['A1', ['a']], 'A2']]])];
    const original = await context.create(ada, {
      title: 'T',
      version: '3',
      department: 'Ops',
      language: 'pt-br',
      nodes,
    });
    await context.set(original.id, { editor_id: ada.id, parent_doc_id: newId(), share_epoch: 4 });
    for (const status of ['draft', 'published', 'archived']) {
      await context.set(original.id, { status, published_at: status === 'draft' ? null : new Date() });
      const response = await duplicate(original.id, member);
      expect([response.status, response.headers.get('etag')]).toEqual([201, '"1"']);
      const copy = Document.parse(response.body);
      expect(copy).toMatchObject({
        title: 'T',
        version: '3',
        department: 'Ops',
        language: 'pt-BR',
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
      expect((await context.request(member, 'GET', copy.id)).body).toEqual(response.body);
      const row = await context.app.db.collection<{ _id: string }>('documents').findOne({ _id: copy.id });
      expect(row).toMatchObject({ family_id: copy.id, share_epoch: 0, node_count: 6 });
      expect(row).toMatchObject({ content_bytes: 2 * Buffer.byteLength(JSON.stringify(content)) });
    }
    // deleting the copy does not affect the original
    const { body: last } = await duplicate(original.id, member);
    expect((await remove(last.id, member)).status).toBe(204);
    expect(await countNodes(original.id)).toBe(6);
  });

  test('duplicateDocument checks organization, If-Match and Idempotency-Key', async () => {
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
