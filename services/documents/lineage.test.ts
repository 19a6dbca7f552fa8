/** Tests what makes nodes of several versions the same node, over HTTP with a real MongoDB. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { identity } from '../testing/services.ts';
import type { Node } from './contract.ts';
import { documents } from './service.ts';
import { type LifecycleClient, lifecycleClient, outcome } from './testing/lifecycle.ts';
import { findNode, toOutline, toTreeInput } from './testing/outline.ts';
import { type TestContext, type TestMember, testContext } from './testing/test-context.ts';

let context: TestContext;
let lifecycle: LifecycleClient;
let ada: TestMember;

beforeAll(async () => {
  context = await testContext([identity, documents]);
  lifecycle = lifecycleClient(context);
  ada = await context.admin();
});
afterAll(() => context?.app.stop());

const replace = (id: string, nodes: unknown, member = ada) =>
  context.request(member, 'PUT', `${id}/nodes`, { nodes });
const createSample = () =>
  context.create(ada, { title: 'T', nodes: toTreeInput([['A', [['A1', ['a']], 'A2']], 'B']) });
const listNodes = (nodes: readonly Node[]): Node[] =>
  nodes.flatMap((node) => [node, ...listNodes(node.children)]);
const getLineage = ({ nodes }: { nodes: Node[] }) =>
  listNodes(nodes).map(({ title, lineage_id }) => [title, lineage_id]);
const section = (lineage_id: unknown, more: object = {}) => ({
  ...{ node_type: 'section', title: 'S', lineage_id },
  ...more,
});

describe('the lineage id of a node', () => {
  test('is the id of a node that was created without one', async () => {
    const document = await createSample();
    const body = { node_type: 'section', title: 'C', order: 9 };
    const added = await context.request(ada, 'POST', `${document.id}/nodes`, body);
    for (const { id, lineage_id } of listNodes([...document.nodes, added.body])) expect(lineage_id).toBe(id);
    const { body: read } = await context.request(ada, 'GET', document.id);
    expect(getLineage(read)).toEqual([...getLineage(document), ['C', added.body.id]]);
  });

  test('is copied by a revision, and not by a duplicate', async () => {
    const original = await createSample();
    await lifecycle.publish(ada, original.id);
    const revision = await lifecycle.createRevision(ada, original.id);
    expect(getLineage(revision)).toEqual(getLineage(original));
    for (const { id, lineage_id } of listNodes(revision.nodes)) expect(lineage_id).not.toBe(id);
    const { body: duplicate } = await context.request(ada, 'POST', `${revision.id}/duplicate`);
    for (const { id, lineage_id } of listNodes(duplicate.nodes)) expect(lineage_id).toBe(id);
  });

  test('can be any UUID in a tree, in lower case', async () => {
    const [one, two] = [newId(), 'C56A4180-65AA-42EC-A945-5FD21DEC0538'];
    const nodes = [section(one, { children: [{ node_type: 'step', title: 'B', lineage_id: two }] })];
    const created = await context.create(ada, { title: 'T', nodes });
    expect(getLineage(created)).toEqual([
      ['S', one],
      ['B', two.toLowerCase()],
    ]);
    // another document may use the same ids
    expect(getLineage(await context.create(ada, { title: 'T', nodes }))).toEqual(getLineage(created));
  });

  test('of a node from before the field existed is its id', async () => {
    const document = await createSample();
    const rows = context.app.db.collection('nodes');
    await rows.updateMany({ document_id: document.id }, { $unset: { lineage_id: 1 } });
    await context.set(document.id, { row_version: 7 });
    expect(getLineage(await lifecycle.get(ada, document.id))).toEqual(getLineage(document));
    await lifecycle.publish(ada, document.id);
    const revision = await lifecycle.createRevision(ada, document.id);
    expect(getLineage(revision)).toEqual(getLineage(document));
    const { body } = await replace(document.id, [section(document.nodes[0].id)]);
    expect(body.nodes[0].id).toBe(document.nodes[0].id);
  });
});

describe('replaceTree', () => {
  test('replaceTree keeps id, creator and creation time of known nodes', async () => {
    const bo = await context.member(ada);
    const document = await createSample();
    await lifecycle.publish(ada, document.id);
    const revision = await lifecycle.createRevision(ada, document.id);
    await context.set(revision.id, { created_by: bo.id });
    const [a, b] = [findNode(revision.nodes, 'A'), findNode(revision.nodes, 'B')];
    const step = { node_type: 'step', title: 'A, as a step', lineage_id: a.lineage_id };
    const { status, body } = await replace(
      revision.id,
      [section(b.lineage_id, { title: 'B', children: [step, { node_type: 'step', title: 'new' }] })],
      bo,
    );
    expect([status, toOutline(body.nodes)]).toEqual([200, [['B', ['A, as a step', 'new']]]]);
    const [first, moved, added] = listNodes(body.nodes);
    for (const [kept, original] of [
      [first, b],
      [moved, a],
    ] as const) {
      const { id, lineage_id, created_by, created_at } = original;
      expect(kept).toMatchObject({ id, lineage_id, created_by, created_at });
    }
    expect(moved?.parent_id).toBe(b.id);
    expect(added).toMatchObject({ created_by: bo.id, lineage_id: added?.id });
    expect(await lifecycle.get(ada, revision.id)).toEqual(body);
  });

  test('replaceTree gives a node with an unknown lineage id a new id', async () => {
    const { id, nodes } = await createSample();
    const unknown = newId();
    const { body } = await replace(id, [section(unknown), { node_type: 'section', title: 'A' }]);
    expect(getLineage(body)[0]).toEqual(['S', unknown]);
    const before = listNodes(nodes).map((node) => node.id);
    for (const node of listNodes(body.nodes)) expect([...before, unknown]).not.toContain(node.id);
  });

  test('replaceTree does not take nodes of another document', async () => {
    const [one, other] = [await createSample(), await createSample()];
    const { body } = await replace(one.id, [section(other.nodes[0].id)]);
    expect(body.nodes[0]).toMatchObject({ lineage_id: other.nodes[0].id, document_id: one.id });
    expect(body.nodes[0].id).not.toBe(other.nodes[0].id);
    expect(await lifecycle.get(ada, other.id)).toEqual(other);
  });
});

describe('a tree in a request', () => {
  const repeated = newId();
  test.each<[string, unknown[], string[]]>([
    ['a repeated lineage_id', [section(repeated), section(repeated)], ['body/nodes/1/lineage_id']],
    [
      'a lineage_id repeated below, in another case',
      [
        section(repeated, {
          children: [{ node_type: 'step', title: 'B', lineage_id: repeated.toUpperCase() }],
        }),
        section(repeated),
      ],
      ['body/nodes/0/children/0/lineage_id', 'body/nodes/1/lineage_id'],
    ],
    ['a lineage_id that is no UUID', [section('one')], ['body/nodes/0/lineage_id']],
    ['a lineage_id of null', [section(null)], ['body/nodes/0/lineage_id']],
  ])('with %s fails with 400 and changes nothing', async (_, nodes, paths) => {
    const document = await createSample();
    const replies = [
      await replace(document.id, nodes),
      await context.app.request('POST', '/documents', { as: ada.as, body: { title: 'T', nodes } }),
    ];
    for (const reply of replies) {
      expect(outcome(reply)).toEqual([400, 'invalid_request']);
      expect(reply.body.errors.map(({ path }: { path: string }) => path)).toEqual(paths);
    }
    expect(await lifecycle.get(ada, document.id)).toEqual(document);
  });

  test('createNode and updateNode do not accept a lineage_id', async () => {
    const { id, nodes } = await createSample();
    const body = { lineage_id: newId(), title: 'x' };
    const added = await context.request(ada, 'POST', `${id}/nodes`, {
      ...body,
      node_type: 'section',
      order: 1,
    });
    const changed = await context.request(ada, 'PATCH', `${id}/nodes/${nodes[0].id}`, body);
    for (const response of [added, changed]) expect(outcome(response)).toEqual([400, 'invalid_request']);
  });
});
