/** Tests the content hash of documents over HTTP with a real MongoDB. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { hashDocument } from '../../tests/content-hash/documents.ts';
import { sharing } from '../sharing/service.ts';
import { identity } from '../testing/services.ts';
import { documents } from './service.ts';
import { type LifecycleClient, lifecycleClient } from './testing/lifecycle.ts';
import { findNode } from './testing/outline.ts';
import { type TestContext, type TestMember, testContext } from './testing/test-context.ts';

let context: TestContext;
let lifecycle: LifecycleClient;
let ada: TestMember;

beforeAll(async () => {
  context = await testContext([identity, documents, sharing]);
  lifecycle = lifecycleClient(context);
  ada = await context.admin();
});
afterAll(() => context?.app.stop());

const content = {
  type: 'doc',
  attrs: { é: 1e21, B: [0.1, -0], a: null },
  content: [{ type: 'paragraph', content: [{ type: 'text', text: 'Größe “m²” 🛠' }] }],
};
const fields = { title: 'Opening', version: '2.1', department: 'Stores' };
interface NodeInput {
  node_type: string;
  title: string;
  content?: object;
  children?: NodeInput[];
}

const nodes: NodeInput[] = [
  {
    node_type: 'section',
    title: 'A',
    children: [
      { node_type: 'step', title: 'A1', content },
      { node_type: 'step', title: 'A2', children: [{ node_type: 'sub_step', title: 'a', content }] },
    ],
  },
  { node_type: 'section', title: 'B', content: { type: 'doc' } },
];

async function must(method: string, path: string, body?: unknown) {
  const { status, body: response } = await context.request(ada, method, path, body);
  if (status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(response)}`);
  return response;
}

/** Adds a node by single writes, then its children. The position is not yet the final one. */
async function add(id: string, parent: string | null, { children = [], content, ...node }: NodeInput) {
  const place = { order: children.length, ...(parent && { parent_id: parent }) };
  const added = await must('POST', `${id}/nodes`, { ...node, ...place });
  if (content) await must('PATCH', `${id}/nodes/${added.id}`, { content });
  for (const child of children) await add(id, added.id, child);
}

/** All ways to write the same words. Each returns the id of a draft. */
const ways: Record<string, () => Promise<string>> = {
  create: async () => (await context.create(ada, { ...fields, nodes })).id,
  'PUT of the tree': async () => {
    const { id } = await context.create(ada, { ...fields, nodes: [{ node_type: 'section', title: 'old' }] });
    await must('PUT', `${id}/nodes`, { nodes });
    return id;
  },
  'single writes of nodes': async () => {
    const { id } = await context.create(ada, { title: 'Old', version: '1' });
    await must('PATCH', id, fields);
    // in another order, then sorted
    for (const node of nodes.toReversed()) await add(id, null, node);
    const tree = (await lifecycle.get(ada, id)).nodes;
    const positions = ['A', 'B', 'A1', 'A2'].map((title, order) => ({
      ...{ node_id: findNode(tree, title).id, order },
    }));
    await must('POST', `${id}/nodes/reorder`, { nodes: positions });
    const extra = await must('POST', `${id}/nodes`, { node_type: 'section', title: 'extra', order: 0.5 });
    await must('PATCH', `${id}/nodes/${findNode(tree, 'A2').id}`, { parent_id: extra.id });
    await must('PATCH', `${id}/nodes/${findNode(tree, 'A2').id}`, { parent_id: findNode(tree, 'A').id });
    await must('DELETE', `${id}/nodes/${extra.id}`);
    return id;
  },
  'a revision': async () => {
    const original = await lifecycle.createPublished(ada, { ...fields, nodes });
    return (await lifecycle.createRevision(ada, original.id)).id;
  },
  'a restored version': async () => {
    const first = await lifecycle.createPublished(ada, { ...fields, nodes });
    const draft = await lifecycle.createRevision(ada, first.id);
    await must('PATCH', draft.id, { title: 'Other' });
    await must('PUT', `${draft.id}/nodes`, { nodes: [] });
    await lifecycle.publish(ada, draft.id);
    return (await must('POST', `${first.id}/restore`)).id;
  },
  'a duplicate': async () => {
    const original = await lifecycle.createPublished(ada, { ...fields, nodes });
    await must('POST', `${original.id}/archive`);
    return (await must('POST', `${original.id}/duplicate`)).id;
  },
};

describe('the content hash', () => {
  test('is the same for the same words, however they were written', async () => {
    const expected = await hashDocument(await context.create(ada, { ...fields, nodes }));
    for (const [name, write] of Object.entries(ways)) {
      const id = await write();
      expect([name, (await lifecycle.get(ada, id)).content_hash]).toEqual([name, null]);
      const { body } = await lifecycle.publish(ada, id);
      expect([name, body.content_hash]).toEqual([name, expected]);
      expect([name, await hashDocument(body)]).toEqual([name, expected]);
      expect((await lifecycle.get(ada, id)).content_hash).toBe(expected);
    }
  });

  test('can be computed from the JSON of the public link', async () => {
    const { id, content_hash } = await lifecycle.createPublished(ada, { ...fields, nodes });
    const { org_slug, token } = await must('POST', `${id}/share-token`);
    const { body } = await context.app.request('GET', `/embed/${org_slug}/${token}?format=json`);
    expect(await hashDocument(body)).toBe(content_hash);
  });

  test('of an empty document is that of its fields', async () => {
    const { content_hash } = await lifecycle.createPublished(ada, { title: 'T' });
    expect(content_hash).toBe(await hashDocument({ title: 'T', version: null, department: null, nodes: [] }));
  });

  test('stays with a version that is replaced or archived', async () => {
    const first = await lifecycle.createPublished(ada, { ...fields, nodes });
    const draft = await lifecycle.createRevision(ada, first.id);
    expect(draft.content_hash).toBeNull();
    await must('PATCH', draft.id, { version: '3' });
    const { body: second } = await lifecycle.publish(ada, draft.id);
    const { body: archived } = await lifecycle.archive(ada, draft.id);
    const { body: history } = await context.request(ada, 'GET', `${first.id}/history`);
    const getHashes = (records: { content_hash: string }[]) => records.map((record) => record.content_hash);
    expect(getHashes([...history, archived])).toEqual([
      first.content_hash,
      second.content_hash,
      second.content_hash,
    ]);
    expect(second.content_hash).not.toBe(first.content_hash);
  });

  test('is in lists and in the event of a publish', async () => {
    const bo = await context.admin();
    const { id, content_hash } = await lifecycle.createPublished(bo, { ...fields, nodes });
    const { body } = await context.app.request('GET', '/documents', { as: bo.as });
    expect(body).toMatchObject([{ id, content_hash }]);
    const [event] = await lifecycle.publishedEvents(id);
    expect(event?.data.document.content_hash).toBe(content_hash);
  });

  test('of a version from before the field existed is null', async () => {
    const { id } = await lifecycle.createPublished(ada, { ...fields, nodes });
    const rows = context.app.db.collection<{ _id: string }>('documents');
    const added = { content_hash: 1, change_summary: 1, minor_change: 1 } as const;
    await rows.updateOne({ _id: id }, { $unset: added, $inc: { row_version: 1 } });
    const none = { content_hash: null, change_summary: null, minor_change: false };
    expect(await lifecycle.get(ada, id)).toMatchObject(none);
    const draft = await lifecycle.createRevision(ada, id);
    expect(draft).toMatchObject(none);
    expect((await lifecycle.publish(ada, draft.id)).body.content_hash).toMatch(/^sha256:/);
    expect((await context.request(ada, 'GET', `${id}/history`)).body[0]).toMatchObject(none);
  });

  test('is not stored if the publish fails', async () => {
    const bo = await context.admin();
    const { id, organization_id } = await context.create(bo, { ...fields, nodes });
    await lifecycle.setPlan(organization_id, 'trial');
    const drafts = await Promise.all(Array.from({ length: 5 }, () => context.create(bo)));
    for (const draft of drafts) await lifecycle.publish(bo, draft.id);
    expect((await lifecycle.publish(bo, id)).status).toBe(402);
    expect((await lifecycle.get(bo, id)).content_hash).toBeNull();
  });
});
