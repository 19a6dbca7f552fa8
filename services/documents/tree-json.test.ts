/** Documents as JSON text: the right tree, and room for others while a huge one is put together. */
import { expect, test } from '@jest/globals';
import { Document, Node } from './shapes.ts';
import type { NodeRow } from './store/collections.ts';
import { documentRow, nodeRow } from './testing/rows.ts';
import { renderDocument, renderNode } from './tree-json.ts';

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

test('nodes stand below their parents, siblings by order, ties by creation', async () => {
  const shown = Document.parse(JSON.parse((await renderDocument(document, [nodes])).toString()));
  expect(toOutline(shown.nodes)).toEqual([
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
  expect(shown).toMatchObject({
    title: document.title,
    nodes: [{ content: { type: 'doc', content: [] } }, {}],
  });
});

test('a document without nodes has an empty list', async () => {
  expect(JSON.parse((await renderDocument(document, [])).toString()).nodes).toEqual([]);
});

test('a node is shown with all that is below it', async () => {
  const shown = async (node: NodeRow, under?: NodeRow[]) =>
    JSON.parse((await renderNode(node, under)).toString());
  const alone = Node.parse(await shown(first));
  expect(alone.children).toEqual([]);
  const whole = Node.parse(await shown(first, [b, a1, a, a2]));
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
  expect(whole.children[0]).toEqual(await shown(a, [a1, a2]));
});

test('the event loop turns many times while 10,000 nodes are put together, and they are all there', async () => {
  const steps = Array.from({ length: 9_998 }, (_, at) => createChild(second, 'step', `${at}`, { order: at }));
  const { bytes, turns } = await countTurns(() => renderDocument(document, [[first, second, ...steps]]));
  expect(turns).toBeGreaterThanOrEqual(39);
  const shown = JSON.parse(bytes.toString());
  expect(shown.nodes[1].children.map(({ title }: Node) => title)).toEqual(steps.map(({ title }) => title));
});

test('it turns also for few nodes with much text', async () => {
  const content = JSON.stringify({ type: 'doc', content: [{ type: 'text', text: 'é'.repeat(250_000) }] });
  const large = Array.from({ length: 20 }, (_, order) => nodeRow(document, { order, content }));
  const { bytes, turns } = await countTurns(() => renderDocument(document, [large]));
  expect(turns).toBeGreaterThanOrEqual(6);
  expect(JSON.parse(bytes.toString()).nodes[19].content).toEqual(JSON.parse(content));
});

/** Bytes, and how often the event loop turned while they were put together. */
async function countTurns(work: () => Promise<Buffer>): Promise<{ bytes: Buffer; turns: number }> {
  let turns = 0;
  let isDone = false;
  const turn = () => {
    turns += 1;
    if (!isDone) setImmediate(turn);
  };
  setImmediate(turn);
  const bytes = await work();
  isDone = true;
  return { bytes, turns };
}
