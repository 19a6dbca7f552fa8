/** Promises about bringing any tree into form. */
import { expect, test } from '@jest/globals';
import { br, doc, li, node, nodeWith, p, text } from './build.ts';
import { createRandom, hostileTree } from './testing/hostile.ts';
import { type RichText, walk } from './tree.ts';
import { isTextblock, toWellFormed } from './well-formed.ts';

const image = nodeWith('image', { src: 'x' });
const bare: RichText = { type: 'image', attrs: { src: 'x' } };

test('a tree in form stays as it is', () => {
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
  ['loose text is put into a paragraph', doc(text('a'), br, text('b')), [p('a', br, 'b')]],
  ['a loose image is a paragraph of its own', doc(image, image, text('a')), [p(bare), p(bare), p('a')]],
  [
    'a block within text is lifted out',
    p('a', node('bulletList', li('b')), 'c'),
    [p('a'), node('bulletList', li('b')), p('c')],
  ],
  ['a paragraph within a paragraph is lifted out', p('a', p('b'), 'c'), [p('a'), p('b'), p('c')]],
  ['an unknown node in a line gives its text to the line', p('a', node('tag', 'b'), 'c'), [p('a', 'b', 'c')]],
  ['an unknown block gives its blocks', doc(node('callout', p('a'), p('b'))), [p('a'), p('b')]],
  [
    'text on a block is its first text',
    { type: 'paragraph', text: 'a', content: [text('b')] },
    [p('a', 'b')],
  ],
  ['text under text is kept', p({ type: 'text', text: 'a', content: [text('b')] }), [p('a', 'b')]],
  ['a list holds items only', node('bulletList', 'a', p('b')), [node('bulletList', li('a'), li('b'))]],
  ['a stray item gives its blocks', doc(li('a')), [p('a')]],
  ['a stray cell gives its blocks', doc(node('tableCell', p('a'))), [p('a')]],
  [
    'a table holds rows of cells only',
    node('table', p('a')),
    [node('table', node('tableRow', node('tableCell', p('a'))))],
  ],
  [
    'empty lists, quotes and tables are left out',
    doc(node('bulletList'), node('blockquote'), node('table', node('tableRow'))),
    [],
  ],
])('%s', (_, content, blocks) => {
  expect(toWellFormed(content)).toEqual({ type: 'doc', content: blocks });
});

test('of 1,000 hostile trees no word is lost and none moves', () => {
  const random = createRandom(11);
  for (let count = 0; count < 1000; count++) {
    const tree = hostileTree(random);
    expect(wordsOf(toWellFormed(tree))).toBe(wordsOf(tree));
  }
});

test('of 1,000 hostile trees each becomes known nodes, each in a place where it may be', () => {
  const random = createRandom(12);
  for (let count = 0; count < 1000; count++) {
    const misplaced = [...walk(toWellFormed(hostileTree(random)))].flatMap(({ node }) =>
      (node.content ?? []).filter((child) => !placesOf(node).includes(child.type)),
    );
    expect(misplaced).toEqual([]);
  }
});

test('text deeper than 64 blocks (a list and its item are one) is kept as text, whatever the depth', () => {
  let deep = p('core');
  for (let level = 0; level < 50_000; level++)
    deep = { type: 'bulletList', content: [{ type: 'listItem', content: [deep] }] };
  const visits = [...walk(toWellFormed(deep))];
  expect(visits.at(-1)?.node).toEqual(text('core'));
  expect(visits.length).toBeLessThan(140);
});

function wordsOf(tree: RichText): string {
  return [...walk(tree)].map(({ node }) => node.text ?? '').join('');
}

function placesOf(parent: RichText): string[] {
  const blocks = [
    'paragraph',
    'heading',
    'codeBlock',
    'blockquote',
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
  return ['doc', 'blockquote', 'listItem', 'taskItem', 'tableCell', 'tableHeader'].includes(parent.type)
    ? blocks
    : [];
}
