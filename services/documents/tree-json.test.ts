/** Tests the rendering of documents as JSON: the structure of the tree, and the slices. */
import { expect, test } from '@jest/globals';
import { countTurns, withTickClock } from '#libs/testing';
import { Document, Node } from './shapes.ts';
import type { NodeRow } from './store/collections.ts';
import { documentRow, nodeRow } from './testing/rows.ts';
import { renderDocument, renderNode, renderNodes } from './tree-json.ts';

const document = documentRow({ title: 'Quotes " and \u2028 breaks' });
const createChild = ({ _id }: NodeRow, node_type: 'step' | 'sub_step', title: string, more = {}) =>
  nodeRow(document, { parent_id: _id, node_type, title, ...more });
const toOutline = (nodes: Node[]): unknown[] =>
  nodes.map(({ title, children }) => [title, toOutline(children)]);

const first = nodeRow(document, { title: 'first', order: 1, content: '{"type":"doc","content":[]}' });
const second = nodeRow(document, { title: 'second', order: 2 });
const a = createChild(first, 'step', 'a', { order: 5 });
const b = createChild(first, 'step', 'b', { order: 5 });
const c = createChild(second, 'step', 'c');
const a1 = createChild(a, 'sub_step', 'a1');
const a2 = createChild(a, 'sub_step', 'a2', { order: -0.5 });
const nodes = [a2, second, b, c, a1, first, a];

test('nodes are nested in their parents, sorted by order, then creation', async () => {
  const rendered = Document.parse(
    JSON.parse((await renderDocument(document, await renderNodes([nodes]))).toString()),
  );
  expect(toOutline(rendered.nodes)).toEqual([
    [
      'first',
      [
        [
          'a',
          [
            ['a2', []],
            ['a1', []],
          ],
        ],
        ['b', []],
      ],
    ],
    ['second', [['c', []]]],
  ]);
  expect(rendered).toMatchObject({
    title: document.title,
    nodes: [{ content: { type: 'doc', content: [] } }, {}],
  });
});

test('a document without nodes has an empty list of nodes', async () => {
  expect(JSON.parse((await renderDocument(document, [])).toString()).nodes).toEqual([]);
});

test('renderNode includes all descendants of the node', async () => {
  const render = async (node: NodeRow, descendants?: NodeRow[]) =>
    JSON.parse((await renderNode(node, descendants)).toString());
  const alone = Node.parse(await render(first));
  expect(alone.children).toEqual([]);
  const whole = Node.parse(await render(first, [b, a1, a, a2]));
  expect(toOutline([whole])).toEqual([
    [
      'first',
      [
        [
          'a',
          [
            ['a2', []],
            ['a1', []],
          ],
        ],
        ['b', []],
      ],
    ],
  ]);
  expect(whole.children[0]).toEqual(await render(a, [a1, a2]));
});

test('lets other work run while it renders 10,000 nodes', async () => {
  const steps = Array.from({ length: 9_998 }, (_, at) => createChild(second, 'step', `${at}`, { order: at }));
  const { bytes, turns } = await render([first, second, ...steps]);
  expect(turns.nodes).toBeGreaterThanOrEqual(4_999);
  expect(turns.document).toBeGreaterThanOrEqual(4_999);
  const rendered = JSON.parse(bytes.toString());
  expect(rendered.nodes[1].children.map(({ title }: Node) => title)).toEqual(steps.map(({ title }) => title));
});

test('lets other work run while it renders few nodes with much text', async () => {
  const content = JSON.stringify({ type: 'doc', content: [{ type: 'text', text: 'é'.repeat(250_000) }] });
  const large = Array.from({ length: 20 }, (_, order) => nodeRow(document, { order, content }));
  const { bytes, turns } = await render(large);
  expect(turns.nodes).toBeGreaterThanOrEqual(9);
  expect(turns.document).toBeGreaterThanOrEqual(9);
  expect(JSON.parse(bytes.toString()).nodes[19].content).toEqual(JSON.parse(content));
});

/** Returns the rendered bytes, and the turns of the event loop while the nodes and the document were rendered. */
function render(rows: readonly NodeRow[]) {
  return withTickClock(async () => {
    const rendered = await countTurns(renderNodes([rows]));
    const { result: bytes, turns } = await countTurns(renderDocument(document, rendered.result));
    return { bytes, turns: { nodes: rendered.turns, document: turns } };
  });
}
