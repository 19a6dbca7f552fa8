/** Tests the operations on nodes over HTTP with a real MongoDB. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { profileCommands } from '#libs/testing';
import { identity } from '../testing/services.ts';
import { Document, Node } from './contract.ts';
import { documents } from './service.ts';
import { outcome } from './testing/lifecycle.ts';
import { findNode, toOutline, toTreeInput } from './testing/outline.ts';
import { type TestContext, type TestMember, testContext } from './testing/test-context.ts';

let context: TestContext;
let ada: TestMember;

beforeAll(async () => {
  context = await testContext([identity, documents]);
  ada = await context.admin();
});
afterAll(() => context?.app.stop());

const read = async (id: string) => (await context.request(ada, 'GET', id)).body;
const etag = async (id: string) => (await context.request(ada, 'GET', id)).headers.get('etag');
const add = (id: string, body: object, headers = {}) =>
  context.request(ada, 'POST', `${id}/nodes`, { title: 'x', order: 0, ...body }, headers);
const change = (id: string, node: string, body: unknown, headers = {}) =>
  context.request(ada, 'PATCH', `${id}/nodes/${node}`, body, headers);
const remove = (id: string, node: string, headers = {}) =>
  context.request(ada, 'DELETE', `${id}/nodes/${node}`, undefined, headers);
const reorder = (id: string, nodes: unknown, headers = {}) =>
  context.request(ada, 'POST', `${id}/nodes/reorder`, { nodes }, headers);
const replace = (id: string, nodes: unknown, headers = {}) =>
  context.request(ada, 'PUT', `${id}/nodes`, { nodes }, headers);
const text = (words: string) => ({ type: 'doc', content: [{ type: 'text', text: words }] });
const createSample = () =>
  context.create(ada, {
    title: 'T',
    nodes: toTreeInput([['A', [['A1', ['a', 'b']], 'A2']], ['B', ['B1']], 'C']),
  });
/** Reads the size of the tree from the document's row. */
const getStoredSize = async (id: string) =>
  context.app.db
    .collection<{ _id: string }>('documents')
    .findOne({ _id: id }, { projection: { _id: 0, node_count: 1, content_bytes: 1 } });

describe('createNode', () => {
  test('createNode reads the row of the document before its transaction', async () => {
    const { id } = await context.create(ada);
    await add(id, { node_type: 'section' });
    const commands = await profileCommands(context.app.db, () => add(id, { node_type: 'section' }));
    const reads = commands.filter(
      ({ collection, op, command }) =>
        collection === 'documents' && op === 'query' && JSON.stringify(command).includes(id),
    );
    expect(reads.map(({ transaction }) => transaction)).toEqual([undefined]);
  });

  test('createNode adds a section, a step and a sub-step', async () => {
    const document = await context.create(ada);
    const section = await add(document.id, { node_type: 'section', title: ' A ', order: 1 });
    expect(Node.parse(section.body)).toMatchObject({
      document_id: document.id,
      parent_id: null,
      title: 'A',
      content: null,
      order: 1,
      created_by: ada.id,
      children: [],
    });
    const step = await add(document.id, { node_type: 'step', parent_id: section.body.id });
    const sub = await add(document.id, { node_type: 'sub_step', parent_id: step.body.id, title: 'C' });
    expect([section, step, sub].map(({ status }) => status)).toEqual([201, 201, 201]);
    expect([section, step, sub].map(({ headers }) => headers.get('etag'))).toEqual(['"2"', '"3"', '"4"']);
    expect(toOutline((await read(document.id)).nodes)).toEqual([['A', [['x', ['C']]]]]);
  });

  test('createNode fails with 400 for an invalid parent', async () => {
    const { id, nodes } = await createSample();
    const other = await createSample();
    for (const node of [
      { node_type: 'section', parent_id: findNode(nodes, 'A').id },
      { node_type: 'step' },
      { node_type: 'step', parent_id: null },
      { node_type: 'step', parent_id: findNode(nodes, 'A1').id },
      { node_type: 'step', parent_id: findNode(other.nodes, 'A').id },
      { node_type: 'step', parent_id: newId() },
      { node_type: 'sub_step', parent_id: findNode(nodes, 'A').id },
      { node_type: 'sub_step', parent_id: findNode(nodes, 'a').id },
      { node_type: 'sub_step' },
    ])
      expect(outcome(await add(id, node))).toEqual([400, 'node_hierarchy']);
    expect((await add(id, { node_type: 'section', parent_id: null })).status).toBe(201);
    expect(await getStoredSize(id)).toMatchObject({ node_count: 9 });
  });

  test('createNode reports all invalid fields', async () => {
    const { id } = await context.create(ada);
    const { status, body } = await context.request(ada, 'POST', `${id}/nodes`, {
      node_type: 'chapter',
      title: '',
      order: 'first',
      parent_id: 'x',
      content: null,
    });
    expect(status).toBe(400);
    expect(body.errors.map(({ path }: { path: string }) => path).sort()).toEqual([
      'body/content',
      'body/node_type',
      'body/order',
      'body/parent_id',
      'body/title',
    ]);
    for (const order of [undefined, null, '1', true])
      expect(outcome(await add(id, { node_type: 'section', order }))).toEqual([400, 'invalid_request']);
    for (const order of [-1e308, -0.5, 0, 1e308])
      expect((await add(id, { node_type: 'section', order })).body.order).toBe(order);
  });

  test('createNode fails for more than 10,000 nodes', async () => {
    const { id } = await context.create(ada);
    await context.set(id, { node_count: 9_999 });
    expect((await add(id, { node_type: 'section' })).status).toBe(201);
    const { status, body } = await add(id, { node_type: 'section' });
    expect([status, body.code, body.limit]).toEqual([400, 'too_many_nodes', 10_000]);
  });
});

describe('updateNode', () => {
  test('updateNode changes the given fields and returns the subtree', async () => {
    const { id, nodes } = await createSample();
    const section = findNode(nodes, 'A');
    const first = await change(id, section.id, { title: 'Z', content: text('é') });
    expect(first.status).toBe(200);
    expect(Node.parse(first.body)).toEqual({
      ...section,
      title: 'Z',
      content: text('é'),
      updated_at: first.body.updated_at,
    });
    expect(first.headers.get('etag')).toBe('"2"');
    expect(await getStoredSize(id)).toEqual({
      node_count: 8,
      content_bytes: Buffer.byteLength(JSON.stringify(text('é'))),
    });
    const second = await change(id, section.id, { content: null, order: 9 });
    expect(second.body).toMatchObject({ title: 'Z', content: null, order: 9 });
    expect(await getStoredSize(id)).toEqual({ node_count: 8, content_bytes: 0 });
    const whole = await read(id);
    expect(toOutline(whole.nodes)).toEqual([['B', ['B1']], 'C', ['Z', [['A1', ['a', 'b']], 'A2']]]);
    expect(findNode(whole.nodes, 'Z')).toEqual(second.body);
    expect((await change(id, findNode(nodes, 'A1').id, { order: 5 })).body).toMatchObject({
      children: [{ title: 'a' }, { title: 'b' }],
    });
  });

  test('updateNode stores rich text unchanged', async () => {
    const { id } = await context.create(ada);
    const { body: node } = await add(id, { node_type: 'section' });
    const strange = {
      type: 'doc',
      attrs: { $where: '1', 'a.b': [1e308, -0.1, null, true, {}, []], constructor: 'x', '': '', ключ: '值' },
      content: [
        {
          type: 'unknownThing',
          attrs: { toString: 1 },
          content: [{ type: 'text', text: '\u0000\u2028"\\</script>\ud83d\ude00' }],
        },
        { type: 'text', text: '', marks: [{ type: 'link', attrs: { href: 'javascript:x' } }] },
      ],
    };
    const { status, body } = await change(id, node.id, { content: strange });
    expect([status, body.content]).toEqual([200, strange]);
    expect((await read(id)).nodes[0].content).toEqual(strange);
    const stored = await context.app.db
      .collection<{ _id: string; content: string }>('nodes')
      .findOne({ _id: node.id });
    expect(stored?.content).toBe(JSON.stringify(strange));
  });

  test('updateNode enforces the size and depth limits of rich text', async () => {
    const { id, nodes } = await createSample();
    const node = findNode(nodes, 'B1').id;
    const frame = JSON.stringify(text('')).length;
    expect((await change(id, node, { content: text('x'.repeat(512 * 1024 - frame)) })).status).toBe(200);
    const large = await change(id, node, { content: text('x'.repeat(512 * 1024 - frame + 1)) });
    expect([large.status, large.body.errors]).toEqual([
      400,
      [{ path: 'body/content', message: 'must be at most 524288 bytes as JSON' }],
    ]);
    let deep: object = { type: 'text', text: '.' };
    for (let level = 0; level < 33; level += 1) deep = { type: 'blockquote', content: [deep] };
    expect(outcome(await change(id, node, { content: deep }))).toEqual([400, 'invalid_request']);
    expect((await change(id, node, { content: { type: 5 } })).body.errors[0].path).toBe('body/content/type');
    const half = { type: 'doc', content: [{ type: 'image', attrs: { alt: '\ud83d' } }] };
    expect((await change(id, node, { content: half })).body.errors).toMatchObject([
      { path: 'body/content/content/0/attrs/alt', message: expect.stringContaining('Unicode') },
    ]);

    const maxBytes = 32 * 1024 * 1024;
    await context.set(id, { content_bytes: maxBytes - frame });
    await change(id, node, { content: null });
    await context.set(id, { content_bytes: maxBytes - frame });
    expect((await change(id, node, { content: text('') })).status).toBe(200);
    const { status, body } = await change(id, node, { content: text('1') });
    expect([status, body.code, body.limit_bytes]).toEqual([400, 'content_too_large', maxBytes]);
    expect(findNode((await read(id)).nodes, 'B1').content).toEqual(text(''));
    expect(
      (await context.request(ada, 'PATCH', `${id}/nodes/${node}`, { content: text('x'.repeat(2 ** 20)) }))
        .status,
    ).toBe(413);
  });

  test('updateNode moves a node with its descendants to another parent', async () => {
    const { id, nodes } = await createSample();
    const { body } = await change(id, findNode(nodes, 'A1').id, {
      parent_id: findNode(nodes, 'B').id,
      order: -1,
    });
    expect(body).toMatchObject({ parent_id: findNode(nodes, 'B').id, order: -1 });
    expect(toOutline([body])).toEqual([['A1', ['a', 'b']]]);
    expect(toOutline((await read(id)).nodes)).toEqual([
      ['A', ['A2']],
      ['B', [['A1', ['a', 'b']], 'B1']],
      'C',
    ]);
    await change(id, findNode(nodes, 'b').id, { parent_id: findNode(nodes, 'B1').id });
    expect(toOutline((await read(id)).nodes)).toEqual([
      ['A', ['A2']],
      [
        'B',
        [
          ['A1', ['a']],
          ['B1', ['b']],
        ],
      ],
      'C',
    ]);
    expect((await change(id, findNode(nodes, 'A').id, { parent_id: null, order: 99 })).status).toBe(200);
    expect(toOutline((await read(id)).nodes).at(-1)).toEqual(['A', ['A2']]);
  });

  test('updateNode fails with 400 for an invalid parent and changes nothing', async () => {
    const { id, nodes } = await createSample();
    const other = await createSample();
    const at = (title: string) => findNode(nodes, title).id;
    for (const [title, parent_id] of [
      ['A', at('B')],
      ['A1', null],
      ['A1', at('B1')],
      ['A1', at('A1')],
      ['A1', findNode(other.nodes, 'B').id],
      ['A1', newId()],
      ['a', null],
      ['a', at('A')],
      ['a', at('b')],
    ] as const)
      expect(outcome(await change(id, at(title), { parent_id, title: 'moved' }))).toEqual([
        400,
        'node_hierarchy',
      ]);
    expect(await read(id)).toMatchObject({ nodes });
    for (const body of [{}, { node_type: 'step' }, { parent_id: 'x' }, { title: null }, { order: null }])
      expect(outcome(await change(id, at('A'), body))).toEqual([400, 'invalid_request']);
  });

  test('updateNode and reorderNodes with equal values change nothing', async () => {
    const { id, nodes } = await createSample();
    const node = findNode(nodes, 'A1');
    const content = { type: 'doc', content: [{ type: 'paragraph' }] };
    await change(id, node.id, { content });
    const before = await read(id);
    const { title, order } = node;
    for (const body of [
      { title: ` ${title} ` },
      { title, order, content },
      { parent_id: findNode(nodes, 'A').id },
    ]) {
      const { status, body: unchanged } = await change(id, node.id, body);
      expect([status, unchanged]).toEqual([200, findNode(before.nodes, 'A1')]);
    }
    const { status, headers } = await reorder(id, [{ node_id: node.id, order }]);
    expect([status, headers.get('etag'), await read(id)]).toEqual([204, await etag(id), before]);
    // equal values are checked like others
    expect(outcome(await change(id, node.id, { title, parent_id: null }))).toEqual([400, 'node_hierarchy']);
    await change(id, node.id, { content: null });
    expect((await read(id)).updated_at).not.toBe(before.updated_at);
  });

  test('updateNode and deleteNode return 404 for nodes of other documents', async () => {
    const { id } = await createSample();
    const other = await createSample();
    for (const node of [other.nodes[0].id, newId(), id, 'nonsense']) {
      expect(outcome(await change(id, node, { title: 'x' }))).toEqual([404, 'not_found']);
      expect(outcome(await remove(id, node))).toEqual([404, 'not_found']);
    }
    expect(await etag(other.id)).toBe('"1"');
  });
});

describe('deleteNode', () => {
  test('deleteNode removes the descendants and updates the counts', async () => {
    const { id, nodes } = await createSample();
    await change(id, findNode(nodes, 'a').id, { content: text('äöü') });
    await change(id, findNode(nodes, 'A1').id, { content: text('more') });
    await change(id, findNode(nodes, 'B1').id, { content: text('stays') });
    const { status, headers, bytes } = await remove(id, findNode(nodes, 'A').id);
    expect([status, headers.get('etag'), bytes.length]).toEqual([204, '"5"', 0]);
    expect(toOutline((await read(id)).nodes)).toEqual([['B', ['B1']], 'C']);
    expect(await context.app.db.collection('nodes').countDocuments({ document_id: id })).toBe(3);
    expect(await getStoredSize(id)).toEqual({
      node_count: 3,
      content_bytes: JSON.stringify(text('stays')).length,
    });
    expect(outcome(await remove(id, findNode(nodes, 'A').id))).toEqual([404, 'not_found']);
    expect((await remove(id, findNode(nodes, 'B1').id)).status).toBe(204);
    expect((await remove(id, findNode(nodes, 'C').id)).status).toBe(204);
    expect(toOutline((await read(id)).nodes)).toEqual(['B']);
    expect(await getStoredSize(id)).toEqual({ node_count: 1, content_bytes: 0 });
  });
});

describe('reorderNodes', () => {
  test('reorderNodes sorts nodes of several parents, ties by creation', async () => {
    const { id, nodes } = await createSample();
    const at = (title: string, order: number) => ({ node_id: findNode(nodes, title).id, order });
    const { status, headers } = await reorder(id, [
      at('C', -1),
      at('a', 7),
      at('A2', 0),
      at('B', 0),
      at('b', 7),
    ]);
    expect([status, headers.get('etag')]).toEqual([204, '"2"']);
    expect(toOutline((await read(id)).nodes)).toEqual([
      'C',
      ['A', [['A1', ['a', 'b']], 'A2']],
      ['B', ['B1']],
    ]);
    await reorder(id, [at('b', 6.5)]);
    expect(toOutline(findNode((await read(id)).nodes, 'A1').children)).toEqual(['b', 'a']);
  });

  test('reorderNodes rejects unknown and repeated nodes, changing nothing', async () => {
    const { id, nodes } = await createSample();
    const other = await createSample();
    const mine = { node_id: nodes[0].id, order: 99 };
    const stranger = { node_id: other.nodes[0].id, order: 99 };
    const { status, body } = await reorder(id, [mine, stranger, { node_id: newId(), order: 1 }]);
    expect([status, body.code]).toEqual([400, 'unknown_nodes']);
    expect(body.errors.map(({ path }: { path: string }) => path)).toEqual([
      'body/nodes/1/node_id',
      'body/nodes/2/node_id',
    ]);
    const twice = await reorder(id, [mine, { ...mine, order: 5 }]);
    expect([twice.status, twice.body.errors[0].path]).toEqual([400, 'body/nodes/1/node_id']);
    for (const nonsense of [undefined, {}, [{ node_id: 'x', order: 1 }], [{ ...mine, order: null }]])
      expect(outcome(await reorder(id, nonsense))).toEqual([400, 'invalid_request']);
    expect(await read(id)).toMatchObject({ nodes });
    expect(await read(other.id)).toEqual(other);
    expect((await reorder(id, [])).status).toBe(204);
  });

  test('reorderNodes accepts 10,000 nodes', async () => {
    const nodes = [['S', Array.from({ length: 9_999 }, (_, at) => `${at}`)]] as Parameters<
      typeof toTreeInput
    >[0];
    const { id, nodes: created } = await context.create(ada, { title: 'T', nodes: toTreeInput(nodes) });
    const reversed = created[0].children.map((node: Node, at: number) => ({ node_id: node.id, order: -at }));
    expect((await reorder(id, [...reversed, { node_id: created[0].id, order: 1 }])).status).toBe(204);
    const titles = (await read(id)).nodes[0].children.map(({ title }: Node) => title);
    expect(titles).toEqual(Array.from({ length: 9_999 }, (_, at) => `${9_998 - at}`));
  });
});

describe('replaceTree', () => {
  test('replaceTree replaces all nodes and gives them new ids', async () => {
    const { id, nodes } = await createSample();
    const { status, body, headers } = await replace(id, [
      {
        node_type: 'section',
        title: 'N',
        content: text('ñ'),
        order: 3,
        children: toTreeInput(['n1', 'n2'], 1),
      },
      { node_type: 'section', title: 'M', order: 2 },
    ]);
    expect([status, headers.get('etag')]).toEqual([200, '"2"']);
    expect(toOutline(Document.parse(body).nodes)).toEqual(['M', ['N', ['n1', 'n2']]]);
    expect(await read(id)).toEqual(body);
    expect(findNode(body.nodes, 'N').content).toEqual(text('ñ'));
    expect(await getStoredSize(id)).toEqual({
      node_count: 4,
      content_bytes: Buffer.byteLength(JSON.stringify(text('ñ'))),
    });
    expect(await context.app.db.collection('nodes').countDocuments({ document_id: id })).toBe(4);
    expect((await change(id, nodes[0].id, { title: 'x' })).status).toBe(404);
    expect((await replace(id, [])).body.nodes).toEqual([]);
    expect(await getStoredSize(id)).toEqual({ node_count: 0, content_bytes: 0 });
  });

  test('replaceTree rejects an invalid tree and keeps the old one', async () => {
    const { id, nodes } = await createSample();
    const misplaced = await replace(id, [
      { node_type: 'section', title: 'ok' },
      { node_type: 'section', title: 'x', children: toTreeInput(['lost'], 2) },
    ]);
    expect(outcome(misplaced)).toEqual([400, 'node_hierarchy']);
    expect(misplaced.body.errors).toMatchObject([{ path: 'body/nodes/1/children/0' }]);
    const steps = Array.from({ length: 10_000 }, (_, at) => `${at}`);
    const many = await replace(id, toTreeInput([['S', steps]]));
    expect([...outcome(many), many.body.limit]).toEqual([400, 'too_many_nodes', 10_000]);
    for (const nonsense of [
      undefined,
      {},
      [{ title: 'x' }],
      [{ node_type: 'section', title: 'x', id: newId() }],
    ])
      expect(outcome(await replace(id, nonsense))).toEqual([400, 'invalid_request']);
    expect(await read(id)).toMatchObject({ nodes });
    expect(await etag(id)).toBe('"1"');
  });
});

describe('preconditions of node writes', () => {
  /** Returns one request for each operation that writes nodes, with its status on success. */
  const writes = (id: string, nodes: Node[]) => {
    const node_id = findNode(nodes, 'B1').id;
    const node = `${id}/nodes/${node_id}`;
    return [
      ['POST', `${id}/nodes`, { node_type: 'section', title: 'x', order: 1 }, 201],
      ['PATCH', node, { title: 'y' }, 200],
      ['POST', `${id}/nodes/reorder`, { nodes: [{ node_id, order: 7 }] }, 204],
      ['DELETE', node, undefined, 204],
      ['PUT', `${id}/nodes`, { nodes: [] }, 200],
    ] as const;
  };

  test('node writes allow owner, editor and admin', async () => {
    const [owner, editor, bystander, stranger] = [
      await context.member(ada),
      await context.member(ada),
      await context.member(ada),
      await context.admin(),
    ];
    for (const [member, expected] of [
      [owner, undefined],
      [editor, undefined],
      [ada, undefined],
      [bystander, [403, 'forbidden']],
      [stranger, [404, 'not_found']],
    ] as const) {
      const { id, nodes } = await context.create(owner, { title: 'T', nodes: toTreeInput([['B', ['B1']]]) });
      await context.set(id, { editor_id: editor.id });
      for (const [method, path, body, success] of writes(id, nodes))
        expect(outcome(await context.request(member, method, path, body))).toEqual(
          expected ?? [success, undefined],
        );
    }
    const { id } = await context.create(owner);
    expect(outcome(await context.request(bystander, 'DELETE', `${id}/nodes/${newId()}`))).toEqual([
      404,
      'not_found',
    ]);
  });

  test('node writes return the new ETag and check If-Match before the status', async () => {
    const { id, nodes } = await createSample();
    let known = '"1"';
    for (const [method, path, body, success] of writes(id, nodes)) {
      const late = await context.request(ada, method, path, body, { 'if-match': '"0"' });
      expect(outcome(late)).toEqual([412, 'precondition_failed']);
      const response = await context.request(ada, method, path, body, { 'if-match': known });
      expect(response.status).toBe(success);
      expect(response.headers.get('etag')).not.toBe(known);
      known = response.headers.get('etag') ?? '';
      expect(await etag(id)).toBe(known);
    }
    const archived = await createSample();
    await context.set(archived.id, { status: 'archived' });
    for (const [method, path, body] of writes(archived.id, archived.nodes))
      expect((await context.request(ada, method, path, body, { 'if-match': '"0"' })).status).toBe(412);
  });

  test('node writes fail for archived and for locked published documents', async () => {
    const bo = await context.admin();
    const make = async () => context.create(bo, { title: 'T', nodes: toTreeInput([['B', ['B1']]]) });
    const [archived, locked, open] = [await make(), await make(), await make()];
    await context.set(archived.id, { status: 'archived' });
    for (const { id } of [locked, open]) await context.request(bo, 'POST', `${id}/publish`);
    for (const [method, path, body, success] of writes(open.id, open.nodes))
      expect((await context.request(bo, method, path, body)).status).toBe(success);
    const settings = { settings: { lock_published: true } };
    await context.app.request('PATCH', '/organization', { as: bo.as, body: settings });
    for (const [document, code] of [
      [archived, 'document_archived'],
      [locked, 'document_locked'],
    ] as const) {
      for (const [method, path, body] of writes(document.id, document.nodes))
        expect(outcome(await context.request(bo, method, path, body))).toEqual([400, code]);
      expect((await context.request(bo, 'GET', document.id)).body.nodes).toEqual(document.nodes);
    }
  });
});
