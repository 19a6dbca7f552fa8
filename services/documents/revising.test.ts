/** Revising and the history, over HTTP with a real MongoDB. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { identity } from '../identity/service.ts';
import { Document, type Node } from './contract.ts';
import { documents } from './service.ts';
import { HistoryRecord } from './shapes.ts';
import {
  createMembers,
  type LifecycleClient,
  lifecycleClient,
  outcome,
  type TestMembers,
} from './testing/lifecycle.ts';
import { type TestContext, testContext } from './testing/test-context.ts';

let context: TestContext;
let lifecycle: LifecycleClient;
let { ada, owner, editor, bystander, stranger } = {} as TestMembers;
let sop: object;

beforeAll(async () => {
  context = await testContext([identity, documents]);
  lifecycle = lifecycleClient(context);
  ({ ada, owner, editor, bystander, stranger } = await createMembers(context));
  const fixture = new URL('../../tests/fixtures/incident-response-sop.json', import.meta.url);
  sop = JSON.parse(await readFile(fixture, 'utf8'));
}, 60_000);
afterAll(() => context?.app.stop());

/** What a tree says, without ids and times. */
function withoutIds(nodes: readonly Node[]): unknown {
  return nodes.map(({ node_type, title, content, order, created_by, children }) => ({
    node_type,
    title,
    content,
    order,
    created_by,
    children: withoutIds(children),
  }));
}

function collectIds(nodes: readonly Node[]): string[] {
  return nodes.flatMap(({ id, children }) => [id, ...collectIds(children)]);
}

describe('revising', () => {
  test('makes a draft with all that the original says, under ids of its own', async () => {
    const original = await lifecycle.createPublished(ada, sop);
    const { status, body, headers } = await lifecycle.revise(ada, original.id);
    expect([status, headers.get('etag')]).toEqual([201, '"1"']);
    const draft = Document.parse(body);
    expect(draft).toEqual({
      ...original,
      id: draft.id,
      parent_doc_id: original.id,
      status: 'draft',
      published_at: null,
      created_at: draft.created_at,
      updated_at: draft.created_at,
      nodes: draft.nodes,
    });
    expect(withoutIds(draft.nodes)).toEqual(withoutIds(original.nodes));
    const ids = collectIds(draft.nodes);
    expect(ids.filter((id) => collectIds(original.nodes).includes(id))).toEqual([]);
    expect(await lifecycle.get(ada, draft.id)).toEqual(body);
  });

  test('carries owner and editor over, whoever revises', async () => {
    const original = await lifecycle.createPublished(owner);
    await context.request(owner, 'PATCH', `${original.id}/editor`, { editor_id: editor.id });
    expect(await lifecycle.createRevision(ada, original.id)).toMatchObject({
      created_by: owner.id,
      editor_id: editor.id,
    });
  });

  test('says nothing, counts nothing, and leaves the original as it was', async () => {
    const original = await lifecycle.createPublished(ada);
    const draft = await lifecycle.createRevision(ada, original.id);
    expect((await lifecycle.publishedEvents(original.id, draft.id)).map(({ type }) => type)).toEqual([
      'document.published',
    ]);
    expect(await lifecycle.countPublished(original.id, draft.id)).toBe(1);
    const read = await context.request(ada, 'GET', original.id);
    expect([read.body, read.headers.get('etag')]).toEqual([original, '"2"']);
  });

  test('a change of either tree is not seen in the other', async () => {
    const original = await lifecycle.createPublished(ada, sop);
    const draft = await lifecycle.createRevision(ada, original.id);
    const node = { node_type: 'section', title: 'New', order: 99 };
    expect((await context.request(ada, 'POST', `${draft.id}/nodes`, node)).status).toBe(201);
    expect(await lifecycle.get(ada, original.id)).toEqual(original);
  });

  test('several drafts may be open at once, also of a revision', async () => {
    const original = await lifecycle.createPublished(ada);
    const drafts = await Promise.all(
      Array.from({ length: 4 }, () => lifecycle.createRevision(ada, original.id)),
    );
    expect(new Set(drafts.map(({ id }) => id)).size).toBe(4);
    await lifecycle.publish(ada, drafts[0].id);
    expect((await lifecycle.createRevision(ada, drafts[0].id)).parent_doc_id).toBe(drafts[0].id);
  });

  test('only what is published can be revised', async () => {
    const original = await context.create(ada);
    expect(outcome(await lifecycle.revise(ada, original.id))).toEqual([400, 'document_not_published']);
    await lifecycle.publish(ada, original.id);
    await lifecycle.publish(ada, (await lifecycle.createRevision(ada, original.id)).id);
    expect(outcome(await lifecycle.revise(ada, original.id))).toEqual([400, 'document_not_published']);
  });

  test('the owner and an admin may; the editor and others get 403, strangers 404', async () => {
    const { id } = await lifecycle.createPublished(owner);
    await context.set(id, { editor_id: editor.id });
    for (const member of [editor, bystander])
      expect(outcome(await lifecycle.revise(member, id))).toEqual([403, 'forbidden']);
    for (const which of [id, newId()])
      expect(outcome(await lifecycle.revise(stranger, which))).toEqual([404, 'not_found']);
    expect((await lifecycle.revise(owner, id)).status).toBe(201);
  });

  test('If-Match compares the ETag of the original', async () => {
    const { id } = await lifecycle.createPublished(ada);
    expect(outcome(await lifecycle.revise(ada, id, { 'if-match': '"1"' }))).toEqual([
      412,
      'precondition_failed',
    ]);
    expect((await lifecycle.revise(ada, id, { 'if-match': '"2"' })).status).toBe(201);
    expect((await lifecycle.revise(ada, id, { 'if-match': '"2"' })).status).toBe(201);
  });

  test('the same Idempotency-Key makes one draft', async () => {
    const { id } = await lifecycle.createPublished(ada);
    const keyed = { 'idempotency-key': newId() };
    const [first, again] = [await lifecycle.revise(ada, id, keyed), await lifecycle.revise(ada, id, keyed)];
    expect([again.status, again.body]).toEqual([201, first.body]);
    const family = { family_id: id, status: 'draft' };
    expect(await context.app.db.collection('documents').countDocuments(family)).toBe(1);
  });

  test('10,000 nodes are copied whole', async () => {
    const steps = Array.from({ length: 99 }, (_, at) => ({ node_type: 'step', title: `${at}` }));
    const nodes = Array.from({ length: 100 }, () => ({ node_type: 'section', title: 'S', children: steps }));
    const original = await lifecycle.createPublished(ada, { title: 'Large', nodes });
    const draft = await lifecycle.createRevision(ada, original.id);
    expect(collectIds(draft.nodes)).toHaveLength(10_000);
    expect(withoutIds(draft.nodes)).toEqual(withoutIds(original.nodes));
    const node = { node_type: 'section', title: 'One too many', order: 0 };
    expect(outcome(await context.request(ada, 'POST', `${draft.id}/nodes`, node))).toEqual([
      400,
      'too_many_nodes',
    ]);
  }, 60_000);
});

describe('the history', () => {
  test('is empty while there is one document, whatever its state', async () => {
    const { id } = await context.create(ada);
    expect(await lifecycle.history(ada, id)).toEqual([]);
    await lifecycle.publish(ada, id);
    expect(await lifecycle.history(ada, id)).toEqual([]);
    await lifecycle.archive(ada, id);
    expect(await lifecycle.history(ada, id)).toEqual([]);
  });

  test('has every version that was published, the oldest first, the same for each of them and for open drafts', async () => {
    const first = await lifecycle.createPublished(ada, { title: 'First', version: '1', department: 'D' });
    const second = await lifecycle.createRevision(ada, first.id);
    expect(await lifecycle.history(ada, second.id)).toEqual([first.id]);
    await lifecycle.publish(ada, second.id);
    // revised from the second, and published after the fourth
    const third = await lifecycle.createRevision(ada, second.id);
    const fourth = await lifecycle.createRevision(ada, second.id);
    await lifecycle.publish(ada, fourth.id);
    await lifecycle.publish(ada, third.id);
    const open = await lifecycle.createRevision(ada, third.id);
    const expected = [first.id, second.id, fourth.id, third.id];
    for (const { id } of [first, second, third, fourth, open])
      expect(await lifecycle.history(ada, id)).toEqual(expected);
    await lifecycle.archive(ada, third.id);
    expect(await lifecycle.history(ada, first.id)).toEqual(expected);
  });

  test('shows each version as it is, without status and nodes', async () => {
    const first = await lifecycle.createPublished(ada, { title: 'First', version: '1' });
    const second = await lifecycle.createRevision(ada, first.id);
    await context.request(ada, 'PATCH', second.id, { title: 'Second', version: '2' });
    await lifecycle.publish(ada, second.id);
    const { status, body } = await context.request(ada, 'GET', `${first.id}/history`);
    expect(status).toBe(200);
    for (const [at, { id }] of [first, second].entries()) {
      const { nodes: _, status: _s, ...record } = await lifecycle.get(ada, id);
      expect(HistoryRecord.parse(body[at])).toEqual(record);
    }
  });

  test('is for every member, and for nobody of another organization', async () => {
    const first = await lifecycle.createPublished(ada);
    await lifecycle.createRevision(ada, first.id);
    expect(await lifecycle.history(bystander, first.id)).toEqual([first.id]);
    for (const id of [first.id, newId()])
      expect(outcome(await context.request(stranger, 'GET', `${id}/history`))).toEqual([404, 'not_found']);
  });
});
