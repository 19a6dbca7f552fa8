/** Tests revisions and the version history over HTTP with a real MongoDB. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { identity } from '../testing/services.ts';
import { Document, type Node } from './contract.ts';
import { documents } from './service.ts';
import { HistoryRecord } from './shapes.ts';
import { outcome } from './testing/lifecycle.ts';
import { type LifecycleFixture, lifecycleFixture } from './testing/lifecycle-fixture.ts';

let { context, lifecycle, ada, owner, editor, bystander, stranger } = {} as LifecycleFixture;
let sop: object;

beforeAll(async () => {
  ({ context, lifecycle, ada, owner, editor, bystander, stranger } = await lifecycleFixture([
    identity,
    documents,
  ]));
  const fixture = new URL('../../tests/fixtures/incident-response-sop.json', import.meta.url);
  sop = JSON.parse(await readFile(fixture, 'utf8'));
});
afterAll(() => context?.app.stop());

/** Omits ids and times from a tree. */
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

describe('reviseDocument', () => {
  test('reviseDocument copies the original with new ids', async () => {
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
      content_hash: null,
      created_at: draft.created_at,
      updated_at: draft.created_at,
      nodes: draft.nodes,
    });
    expect(withoutIds(draft.nodes)).toEqual(withoutIds(original.nodes));
    const ids = collectIds(draft.nodes);
    expect(ids.filter((id) => collectIds(original.nodes).includes(id))).toEqual([]);
    expect(await lifecycle.get(ada, draft.id)).toEqual(body);
  });

  test('reviseDocument copies owner and editor, whoever calls it', async () => {
    const original = await lifecycle.createPublished(owner);
    await context.request(owner, 'PATCH', `${original.id}/editor`, { editor_id: editor.id });
    expect(await lifecycle.createRevision(ada, original.id)).toMatchObject({
      created_by: owner.id,
      editor_id: editor.id,
    });
  });

  test('reviseDocument publishes nothing and does not change the original', async () => {
    const original = await lifecycle.createPublished(ada);
    const draft = await lifecycle.createRevision(ada, original.id);
    expect((await lifecycle.publishedEvents(original.id, draft.id)).map(({ type }) => type)).toEqual([
      'document.published',
    ]);
    expect(await lifecycle.countPublished(original.id, draft.id)).toBe(1);
    const read = await context.request(ada, 'GET', original.id);
    expect([read.body, read.headers.get('etag')]).toEqual([original, '"2"']);
  });

  test('a change of a revision does not affect the original', async () => {
    const original = await lifecycle.createPublished(ada, sop);
    const draft = await lifecycle.createRevision(ada, original.id);
    const node = { node_type: 'section', title: 'New', order: 99 };
    expect((await context.request(ada, 'POST', `${draft.id}/nodes`, node)).status).toBe(201);
    expect(await lifecycle.get(ada, original.id)).toEqual(original);
  });

  test('reviseDocument creates several drafts, also of a revision', async () => {
    const original = await lifecycle.createPublished(ada);
    const drafts = await Promise.all(
      Array.from({ length: 4 }, () => lifecycle.createRevision(ada, original.id)),
    );
    expect(new Set(drafts.map(({ id }) => id)).size).toBe(4);
    await lifecycle.publish(ada, drafts[0].id);
    expect((await lifecycle.createRevision(ada, drafts[0].id)).parent_doc_id).toBe(drafts[0].id);
  });

  test('reviseDocument accepts only published documents', async () => {
    const original = await context.create(ada);
    expect(outcome(await lifecycle.revise(ada, original.id))).toEqual([400, 'document_not_published']);
    await lifecycle.publish(ada, original.id);
    await lifecycle.publish(ada, (await lifecycle.createRevision(ada, original.id)).id);
    expect(outcome(await lifecycle.revise(ada, original.id))).toEqual([400, 'document_not_published']);
  });

  test('reviseDocument allows the owner and an admin', async () => {
    const { id } = await lifecycle.createPublished(owner);
    await context.set(id, { editor_id: editor.id });
    for (const member of [editor, bystander])
      expect(outcome(await lifecycle.revise(member, id))).toEqual([403, 'forbidden']);
    for (const documentId of [id, newId()])
      expect(outcome(await lifecycle.revise(stranger, documentId))).toEqual([404, 'not_found']);
    expect((await lifecycle.revise(owner, id)).status).toBe(201);
  });

  test('reviseDocument compares If-Match with the original', async () => {
    const { id } = await lifecycle.createPublished(ada);
    expect(outcome(await lifecycle.revise(ada, id, { 'if-match': '"1"' }))).toEqual([
      412,
      'precondition_failed',
    ]);
    expect((await lifecycle.revise(ada, id, { 'if-match': '"2"' })).status).toBe(201);
    expect((await lifecycle.revise(ada, id, { 'if-match': '"2"' })).status).toBe(201);
  });

  test('reviseDocument with one Idempotency-Key creates one draft', async () => {
    const { id } = await lifecycle.createPublished(ada);
    const headers = { 'idempotency-key': newId() };
    const [first, second] = [
      await lifecycle.revise(ada, id, headers),
      await lifecycle.revise(ada, id, headers),
    ];
    expect([second.status, second.body]).toEqual([201, first.body]);
    const family = { family_id: id, status: 'draft' };
    expect(await context.app.db.collection('documents').countDocuments(family)).toBe(1);
  });

  test('reviseDocument copies 10,000 nodes', async () => {
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
  });
});

describe('listVersions', () => {
  test('listVersions is empty for a single document in any status', async () => {
    const { id } = await context.create(ada);
    expect(await lifecycle.history(ada, id)).toEqual([]);
    await lifecycle.publish(ada, id);
    expect(await lifecycle.history(ada, id)).toEqual([]);
    await lifecycle.archive(ada, id);
    expect(await lifecycle.history(ada, id)).toEqual([]);
  });

  test('listVersions returns the published versions of a family, oldest first', async () => {
    const first = await lifecycle.createPublished(ada, { title: 'First', version: '1', department: 'D' });
    const second = await lifecycle.createRevision(ada, first.id);
    expect(await lifecycle.history(ada, second.id)).toEqual([first.id]);
    await lifecycle.publish(ada, second.id);
    // the third is created from the second and published after the fourth
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

  test('listVersions returns versions without status and nodes', async () => {
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

  test('listVersions allows every member of the organization', async () => {
    const first = await lifecycle.createPublished(ada);
    await lifecycle.createRevision(ada, first.id);
    expect(await lifecycle.history(bystander, first.id)).toEqual([first.id]);
    for (const id of [first.id, newId()])
      expect(outcome(await context.request(stranger, 'GET', `${id}/history`))).toEqual([404, 'not_found']);
  });
});
