/** Tests of the normalization of rich-text trees. */
import { expect, test } from '@jest/globals';
import { br, doc, li, node, nodeWith, p, text } from '../../tests/fixtures/generators/rich-text.ts';
import { createRandom, hostileTree } from '../../tests/rich-text/hostile.ts';
import { type RichText, walk } from './tree.ts';
import { isTextblock, toWellFormed } from './well-formed.ts';

const image = nodeWith('image', { src: 'x' });
const bare: RichText = { type: 'image', attrs: { src: 'x' } };

test('a well-formed tree is unchanged', () => {
  const content = doc(
    nodeWith('heading', { level: 2 }, 'a'),
    p(text('b', 'bold'), br, bare),
    p(),
    node('codeBlock', 'c'),
    node('blockquote', p('d'), { type: 'horizontalRule' }),
    nodeWith('orderedList', { start: 3 }, li('e', node('bulletList', li('f')))),
    node('taskList', nodeWith('taskItem', { checked: true }, p('g'))),
    node('table', node('tableRow', nodeWith('tableHeader', { colspan: 2 }, p('h')), node('tableCell', p()))),
  );
  expect(toWellFormed(content)).toEqual(content);
});

test.each<[string, RichText, RichText[]]>([
  ['loose text is wrapped in a paragraph', doc(text('a'), br, text('b')), [p('a', br, 'b')]],
  ['a loose image is wrapped in its own paragraph', doc(image, image, text('a')), [p(bare), p(bare), p('a')]],
  [
    'a block inside text is lifted out',
    p('a', node('bulletList', li('b')), 'c'),
    [p('a'), node('bulletList', li('b')), p('c')],
  ],
  ['a paragraph inside a paragraph is lifted out', p('a', p('b'), 'c'), [p('a'), p('b'), p('c')]],
  ['an unknown inline node is replaced by its text', p('a', node('tag', 'b'), 'c'), [p('a', 'b', 'c')]],
  ['an unknown block is replaced by its blocks', doc(node('panel', p('a'), p('b'))), [p('a'), p('b')]],
  [
    'loose text in a callout is wrapped in a paragraph',
    nodeWith('callout', { kind: 'danger' }, 'a'),
    [nodeWith('callout', { kind: 'danger' }, p('a'))],
  ],
  [
    'the text field of a block becomes its first text node',
    { type: 'paragraph', text: 'a', content: [text('b')] },
    [p('a', 'b')],
  ],
  [
    'the children of a text node are kept',
    p({ type: 'text', text: 'a', content: [text('b')] }),
    [p('a', 'b')],
  ],
  [
    'other children of a list are wrapped in items',
    node('bulletList', 'a', p('b')),
    [node('bulletList', li('a'), li('b'))],
  ],
  ['an item outside a list is replaced by its blocks', doc(li('a')), [p('a')]],
  ['a cell outside a table is replaced by its blocks', doc(node('tableCell', p('a'))), [p('a')]],
  [
    'other children of a table are wrapped in rows and cells',
    node('table', p('a')),
    [node('table', node('tableRow', node('tableCell', p('a'))))],
  ],
  [
    'empty lists, quotes, callouts and tables are removed',
    doc(node('bulletList'), node('blockquote'), node('callout'), node('table', node('tableRow'))),
    [],
  ],
])('toWellFormed: %s', (_, content, blocks) => {
  expect(toWellFormed(content)).toEqual({ type: 'doc', content: blocks });
});

test('1,000 hostile trees keep their text in order when normalized', () => {
  const random = createRandom(11);
  for (let count = 0; count < 1000; count++) {
    const tree = hostileTree(random);
    expect(joinTexts(toWellFormed(tree))).toBe(joinTexts(tree));
  }
});

test('1,000 hostile trees become known nodes in allowed places', () => {
  const random = createRandom(12);
  for (let count = 0; count < 1000; count++) {
    const misplaced = [...walk(toWellFormed(hostileTree(random)))].flatMap(({ node }) =>
      (node.content ?? []).filter((child) => !allowedChildren(node).includes(child.type)),
    );
    expect(misplaced).toEqual([]);
  }
});

test('content deeper than 64 nested blocks is reduced to its text', () => {
  // a list and its item count as one block
  let deep = p('core');
  for (let level = 0; level < 50_000; level++)
    deep = { type: 'bulletList', content: [{ type: 'listItem', content: [deep] }] };
  const visits = [...walk(toWellFormed(deep))];
  expect(visits.at(-1)?.node).toEqual(text('core'));
  expect(visits.length).toBeLessThan(140);
});

test('an empty list of children of a text changes nothing at any depth', () => {
  const leaf = text('core', 'bold');
  for (let depth = 0; depth < 70; depth += 1) {
    let [usual, withChildren] = [p(leaf), p({ ...leaf, content: [] })];
    for (let at = 0; at < depth; at += 1)
      [usual, withChildren] = [node('blockquote', usual), node('blockquote', withChildren)];
    expect(toWellFormed(usual)).toEqual(toWellFormed(withChildren));
  }
});

function joinTexts(tree: RichText): string {
  return [...walk(tree)].map(({ node }) => node.text ?? '').join('');
}

function allowedChildren(parent: RichText): string[] {
  const blocks = [
    'paragraph',
    'heading',
    'codeBlock',
    'blockquote',
    'callout',
    'horizontalRule',
    'bulletList',
    'orderedList',
    'taskList',
    'table',
  ];
  if (isTextblock(parent)) return ['text', 'hardBreak', 'image'];
  if (['bulletList', 'orderedList', 'taskList'].includes(parent.type)) return ['listItem', 'taskItem'];
  if (parent.type === 'table') return ['tableRow'];
  if (parent.type === 'tableRow') return ['tableCell', 'tableHeader'];
  return ['doc', 'blockquote', 'callout', 'listItem', 'taskItem', 'tableCell', 'tableHeader'].includes(
    parent.type,
  )
    ? blocks
    : [];
}
