/**
 * Writers into one tree at the same moment, at two replicas: nothing is lost, nothing hangs in the air,
 * nothing slips past a publish.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import type { TestResponse } from '#libs/testing';
import { identity } from '../identity/service.ts';
import type { Node } from './contract.ts';
import { documents } from './service.ts';
import type { DocumentRow, NodeRow } from './store/collections.ts';
import { findNode, outcome, toOutline, toTreeInput } from './testing/outline.ts';
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
}, 60_000);
afterAll(() => replicas[0]?.app.stop());

/** Asks one of the replicas, in turn. */
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

/**
 * What is true of every tree whatever was done to it: counted right, and every node hangs below one that is
 * there.
 */
async function expectConsistentTree(id: string): Promise<void> {
  const { document, nodes } = await findRows(id);
  const bytes = nodes.reduce((sum, { content }) => sum + Buffer.byteLength(content ?? ''), 0);
  expect([document?.node_count, document?.content_bytes]).toEqual([nodes.length, bytes]);
  const types = new Map(nodes.map(({ _id, node_type }) => [_id, node_type]));
  const above = { section: undefined, step: 'section', sub_step: 'step' };
  for (const { node_type, parent_id } of nodes)
    expect(parent_id === null ? undefined : (types.get(parent_id) ?? 'nowhere')).toBe(above[node_type]);
  const shown = (all: readonly Node[]): number => all.reduce((sum, one) => sum + 1 + shown(one.children), 0);
  const { body } = await request('GET', id);
  expect(shown(body.nodes)).toBe(nodes.length);
}

test('a hundred concurrent node writers with keys all succeed', async () => {
  const { id } = await create([]);
  const [context] = replicas as [TestContext];
  const write = (at: number) => {
    const body = { node_type: 'section', title: `${at}`, order: at };
    return context.request(ada, 'POST', `${id}/nodes`, body, { 'idempotency-key': newId() });
  };
  const answers = await Promise.all(Array.from({ length: 100 }, (_, at) => write(at)));
  expect(answers.map(({ status }) => status)).toEqual(Array(100).fill(201));
  await expectConsistentTree(id);
});

test('fifty nodes that are added at once are fifty nodes', async () => {
  const { id } = await create([]);
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, at) =>
      request('POST', `${id}/nodes`, { node_type: 'section', title: `${at}`, order: at }),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(201));
  const { body, headers } = await request('GET', id);
  expect(body.nodes.map(({ title }: Node) => title)).toEqual(Array.from({ length: 50 }, (_, at) => `${at}`));
  expect(headers.get('etag')).toBe('"51"');
  // every writer was told a version of its own
  expect(new Set(answers.map((one) => one.headers.get('etag'))).size).toBe(50);
  await expectConsistentTree(id);
}, 30_000);

test.each(rounds)('a parent that is deleted while children are added leaves no orphan (%i)', async () => {
  const { id, nodes } = await create([['A', ['A1']], 'B']);
  const parent = findNode(nodes, 'A').id;
  const add = () =>
    request('POST', `${id}/nodes`, { node_type: 'step', title: 'x', order: 1, parent_id: parent });
  const [gone, ...added] = await Promise.all([
    request('DELETE', `${id}/nodes/${parent}`),
    ...Array.from({ length: 6 }, add),
  ]);
  expect(gone?.status).toBe(204);
  for (const one of added)
    expect([
      [201, undefined],
      [400, 'node_hierarchy'],
    ]).toContainEqual(outcome(one));
  expect(toOutline((await request('GET', id)).body.nodes)).toEqual(['B']);
  await expectConsistentTree(id);
});

test.each(rounds)(
  'a node that moves while its new parent is deleted goes with it or stays (%i)',
  async () => {
    const { id, nodes } = await create([['A', [['A1', ['a']]]], 'B']);
    const [moved, gone] = await Promise.all([
      request('PATCH', `${id}/nodes/${findNode(nodes, 'A1').id}`, { parent_id: findNode(nodes, 'B').id }),
      request('DELETE', `${id}/nodes/${findNode(nodes, 'B').id}`),
    ]);
    expect(gone.status).toBe(204);
    const left = toOutline((await request('GET', id)).body.nodes);
    expect(left).toEqual(moved.status === 200 ? ['A'] : [['A', [['A1', ['a']]]]]);
    await expectConsistentTree(id);
  },
);

test.each(rounds)('two nodes that change places keep all that is below them (%i)', async () => {
  const { id, nodes } = await create([
    ['A', [['A1', ['a']]]],
    ['B', [['B1', ['b']]]],
  ]);
  const at = (title: string) => findNode(nodes, title).id;
  const answers = await Promise.all([
    request('PATCH', `${id}/nodes/${at('A1')}`, { parent_id: at('B') }),
    request('PATCH', `${id}/nodes/${at('B1')}`, { parent_id: at('A') }),
    request('PATCH', `${id}/nodes/${at('a')}`, { title: 'a, changed' }),
    request('POST', `${id}/nodes/reorder`, { nodes: [{ node_id: at('B'), order: -1 }] }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 204]);
  expect(toOutline((await request('GET', id)).body.nodes)).toEqual([
    ['B', [['A1', ['a, changed']]]],
    ['A', [['B1', ['b']]]],
  ]);
  await expectConsistentTree(id);
});

test.each(rounds)('a tree that is replaced while it is written to is one of both (%i)', async () => {
  const { id, nodes } = await create([['A', ['A1']], 'B']);
  const answers = await Promise.all([
    request('PUT', `${id}/nodes`, { nodes: toTreeInput([['N', ['n']]]) }),
    request('POST', `${id}/nodes`, { node_type: 'section', title: 'late', order: 9 }),
    request('PATCH', `${id}/nodes/${findNode(nodes, 'A').id}`, { title: 'changed' }),
    request('DELETE', `${id}/nodes/${findNode(nodes, 'B').id}`),
  ]);
  expect(answers[0]?.status).toBe(200);
  expect(answers[1]?.status).toBe(201);
  // of the old nodes nothing is left; what came after them may stand beside the new ones
  const titles = toOutline((await request('GET', id)).body.nodes);
  expect([[['N', ['n']]], [['N', ['n']], 'late']]).toContainEqual(titles);
  for (const one of answers.slice(2)) expect([200, 204, 404]).toContain(one.status);
  await expectConsistentTree(id);
});

describe('where published documents are locked', () => {
  test.each(rounds)('a write that races a publish is in what was published, or refused (%i)', async () => {
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
    const done = written.filter(({ status }) => status < 300);
    for (const one of written.filter(({ status }) => status >= 300))
      expect(outcome(one)).toEqual([400, 'document_locked']);
    // the answer of the publish, what is read now, and what was accepted are the same
    const { body } = await request('GET', id);
    expect(body).toEqual(published?.body);
    const text = JSON.stringify(body);
    for (const one of done) expect(text).toContain(`"id":"${one.body.id}"`);
    expect(text.includes('"title":"changed"')).toBe(written[0]?.status === 200);
    expect(body.nodes).toHaveLength(1 + done.filter(({ status }) => status === 201).length);
    await expectConsistentTree(id);
  });
});
