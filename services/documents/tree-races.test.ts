/** Tests concurrent writers of one tree at two replicas: no lost nodes, orphans or writes after a publish. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import type { TestResponse } from '#libs/testing';
import { identity } from '../testing/services.ts';
import type { Node } from './contract.ts';
import { documents } from './service.ts';
import type { DocumentRow, NodeRow } from './store/collections.ts';
import { outcome } from './testing/lifecycle.ts';
import { findNode, toOutline, toTreeInput } from './testing/outline.ts';
import { type TestContext, type TestMember, testContext, testContextFor } from './testing/test-context.ts';

let replicas: TestContext[];
let ada: TestMember;
const rounds = Array.from({ length: 5 }, (_, round) => round);

beforeAll(async () => {
  const context = await testContext([identity, documents]);
  replicas = [context, testContextFor({ ...context.app, ...(await context.app.replica()) })];
  ada = await context.admin();
  const settings = { settings: { lock_published: true } };
  await context.app.request('PATCH', '/organization', { as: ada.as, body: settings });
});
afterAll(() => replicas[0]?.app.stop());

/** Sends a request to the replicas alternately. */
let requests = 0;
function request(method: string, path: string, body?: unknown): Promise<TestResponse> {
  requests += 1;
  const context = replicas[requests % 2] as TestContext;
  return context.request(ada, method, path, body);
}
const create = (titles: Parameters<typeof toTreeInput>[0]) =>
  (replicas[0] as TestContext).create(ada, { title: 'T', nodes: toTreeInput(titles) });
const findRows = async (id: string) => {
  const { db } = (replicas[0] as TestContext).app;
  const document = await db.collection<DocumentRow>('documents').findOne({ _id: id });
  return { document, nodes: await db.collection<NodeRow>('nodes').find({ document_id: id }).toArray() };
};

/** Asserts that the stored size of a tree is correct and that the parent of every node exists. */
async function expectConsistentTree(id: string): Promise<void> {
  const { document, nodes } = await findRows(id);
  const bytes = nodes.reduce((sum, { content }) => sum + Buffer.byteLength(content ?? ''), 0);
  expect([document?.node_count, document?.content_bytes]).toEqual([nodes.length, bytes]);
  const types = new Map(nodes.map(({ _id, node_type }) => [_id, node_type]));
  const above = { section: undefined, step: 'section', sub_step: 'step' };
  for (const { node_type, parent_id } of nodes)
    expect(parent_id === null ? undefined : (types.get(parent_id) ?? 'nowhere')).toBe(above[node_type]);
  const countNodes = (all: readonly Node[]): number =>
    all.reduce((sum, { children }) => sum + 1 + countNodes(children), 0);
  const { body } = await request('GET', id);
  expect(countNodes(body.nodes)).toBe(nodes.length);
}

test('a hundred concurrent node writers with keys all succeed', async () => {
  const { id } = await create([]);
  const [context] = replicas as [TestContext];
  const write = (at: number) => {
    const body = { node_type: 'section', title: `${at}`, order: at };
    return context.request(ada, 'POST', `${id}/nodes`, body, { 'idempotency-key': newId() });
  };
  const responses = await Promise.all(Array.from({ length: 100 }, (_, at) => write(at)));
  expect(responses.map(({ status }) => status)).toEqual(Array(100).fill(201));
  await expectConsistentTree(id);
});

test('fifty concurrent node writers without keys all succeed', async () => {
  const { id } = await create([]);
  const responses = await Promise.all(
    Array.from({ length: 50 }, (_, at) =>
      request('POST', `${id}/nodes`, { node_type: 'section', title: `${at}`, order: at }),
    ),
  );
  expect(responses.map(({ status }) => status)).toEqual(Array(50).fill(201));
  const { body, headers } = await request('GET', id);
  expect(body.nodes.map(({ title }: Node) => title)).toEqual(Array.from({ length: 50 }, (_, at) => `${at}`));
  expect(headers.get('etag')).toBe('"51"');
  // every response has a different ETag
  expect(new Set(responses.map(({ headers }) => headers.get('etag'))).size).toBe(50);
  await expectConsistentTree(id);
});

test.each(rounds)('deleting a parent while children are added leaves no orphan (%i)', async () => {
  const { id, nodes } = await create([['A', ['A1']], 'B']);
  const parent = findNode(nodes, 'A').id;
  const add = () =>
    request('POST', `${id}/nodes`, { node_type: 'step', title: 'x', order: 1, parent_id: parent });
  const [deleted, ...added] = await Promise.all([
    request('DELETE', `${id}/nodes/${parent}`),
    ...Array.from({ length: 6 }, add),
  ]);
  expect(deleted?.status).toBe(204);
  for (const response of added)
    expect([
      [201, undefined],
      [400, 'node_hierarchy'],
    ]).toContainEqual(outcome(response));
  expect(toOutline((await request('GET', id)).body.nodes)).toEqual(['B']);
  await expectConsistentTree(id);
});

test.each(rounds)('a node moved while its new parent is deleted goes or stays (%i)', async () => {
  const { id, nodes } = await create([['A', [['A1', ['a']]]], 'B']);
  const [moved, deleted] = await Promise.all([
    request('PATCH', `${id}/nodes/${findNode(nodes, 'A1').id}`, { parent_id: findNode(nodes, 'B').id }),
    request('DELETE', `${id}/nodes/${findNode(nodes, 'B').id}`),
  ]);
  expect(deleted.status).toBe(204);
  const titles = toOutline((await request('GET', id)).body.nodes);
  expect(titles).toEqual(moved.status === 200 ? ['A'] : [['A', [['A1', ['a']]]]]);
  await expectConsistentTree(id);
});

test.each(rounds)('two nodes that exchange parents keep their descendants (%i)', async () => {
  const { id, nodes } = await create([
    ['A', [['A1', ['a']]]],
    ['B', [['B1', ['b']]]],
  ]);
  const at = (title: string) => findNode(nodes, title).id;
  const responses = await Promise.all([
    request('PATCH', `${id}/nodes/${at('A1')}`, { parent_id: at('B') }),
    request('PATCH', `${id}/nodes/${at('B1')}`, { parent_id: at('A') }),
    request('PATCH', `${id}/nodes/${at('a')}`, { title: 'a, changed' }),
    request('POST', `${id}/nodes/reorder`, { nodes: [{ node_id: at('B'), order: -1 }] }),
  ]);
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 204]);
  expect(toOutline((await request('GET', id)).body.nodes)).toEqual([
    ['B', [['A1', ['a, changed']]]],
    ['A', [['B1', ['b']]]],
  ]);
  await expectConsistentTree(id);
});

test.each(rounds)('a tree replaced during other writes has no old nodes (%i)', async () => {
  const { id, nodes } = await create([['A', ['A1']], 'B']);
  const responses = await Promise.all([
    request('PUT', `${id}/nodes`, { nodes: toTreeInput([['N', ['n']]]) }),
    request('POST', `${id}/nodes`, { node_type: 'section', title: 'late', order: 9 }),
    request('PATCH', `${id}/nodes/${findNode(nodes, 'A').id}`, { title: 'changed' }),
    request('DELETE', `${id}/nodes/${findNode(nodes, 'B').id}`),
  ]);
  expect(responses[0]?.status).toBe(200);
  expect(responses[1]?.status).toBe(201);
  // no old node remains; a node added after the replacement may exist beside the new ones
  const titles = toOutline((await request('GET', id)).body.nodes);
  expect([[['N', ['n']]], [['N', ['n']], 'late']]).toContainEqual(titles);
  for (const { status } of responses.slice(2)) expect([200, 204, 404]).toContain(status);
  await expectConsistentTree(id);
});

describe('locked published documents', () => {
  test.each(rounds)('a write during a publish is published or rejected (%i)', async () => {
    const { id, nodes } = await create([['A', ['A1']]]);
    const node = `${id}/nodes/${findNode(nodes, 'A1').id}`;
    const [published, ...written] = await Promise.all([
      request('POST', `${id}/publish`),
      request('PATCH', node, { title: 'changed' }),
      ...Array.from({ length: 4 }, (_, at) =>
        request('POST', `${id}/nodes`, { node_type: 'section', title: `new ${at}`, order: 10 + at }),
      ),
    ]);
    expect(published?.status).toBe(200);
    const accepted = written.filter(({ status }) => status < 300);
    for (const rejected of written.filter(({ status }) => status >= 300))
      expect(outcome(rejected)).toEqual([400, 'document_locked']);
    // the published document equals the current one and contains all accepted writes
    const { body } = await request('GET', id);
    expect(body).toEqual(published?.body);
    const text = JSON.stringify(body);
    for (const { body } of accepted) expect(text).toContain(`"id":"${body.id}"`);
    expect(text.includes('"title":"changed"')).toBe(written[0]?.status === 200);
    expect(body.nodes).toHaveLength(1 + accepted.filter(({ status }) => status === 201).length);
    await expectConsistentTree(id);
  });
});
