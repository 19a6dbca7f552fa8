/** Tests that ProseMirror's own names render as those of Tiptap. */
import { expect, test } from '@jest/globals';
import { doc, li, link, node, nodeWith, p, text } from '../../tests/fixtures/generators/rich-text.ts';
import { toMarkdown } from '../markdown/markdown.ts';
import { toHtml } from './html.ts';
import { toMdast } from './mdast.ts';
import { resolveMarks, resolveNode } from './names.ts';
import { toPlainText } from './text.ts';
import type { RichText } from './tree.ts';
import { toWellFormed } from './well-formed.ts';

const item = (value: string) => node('list_item', p(value));

const proseMirror = doc(
  p(text('a', 'strong'), text('b', 'em', link('https://a.example/')), { type: 'hard_break' }, 'c'),
  node('bullet_list', item('d')),
  nodeWith('ordered_list', { order: 4 }, item('e')),
  node('task_list', nodeWith('task_item', { checked: true }, p('f'))),
  nodeWith('code_block', { params: 'sh' }, 'g'),
  { type: 'horizontal_rule' },
  node(
    'table',
    node('table_row', node('table_header', p('h')), nodeWith('table_cell', { colspan: 2 }, p('i'))),
  ),
  p(text('j', 'strikethrough'), text('k', 'sub'), text('l', 'sup')),
);

const tiptap = doc(
  p(text('a', 'bold'), text('b', 'italic', link('https://a.example/')), { type: 'hardBreak' }, 'c'),
  node('bulletList', li('d')),
  nodeWith('orderedList', { start: 4 }, li('e')),
  node('taskList', nodeWith('taskItem', { checked: true }, p('f'))),
  nodeWith('codeBlock', { language: 'sh' }, 'g'),
  { type: 'horizontalRule' },
  node('table', node('tableRow', node('tableHeader', p('h')), nodeWith('tableCell', { colspan: 2 }, p('i')))),
  p(text('j', 'strike'), text('k', 'subscript'), text('l', 'superscript')),
);

const writeMarkdown = (content: RichText) => toMarkdown(toMdast(content));

test.each([
  ['HTML', toHtml],
  ['Markdown', writeMarkdown],
  ['plain text', toPlainText],
])('ProseMirror names give the same %s as Tiptap names', (_, render) => {
  expect(render(proseMirror)).toBe(render(tiptap));
});

test('toWellFormed renames types and attributes, and leaves its input alone', () => {
  const before = structuredClone(proseMirror);
  const types = JSON.stringify(toWellFormed(proseMirror)).match(/"type":"[^"]*_[^"]*"/g);
  expect(types).toBeNull();
  expect(proseMirror).toEqual(before);
});

test('the Tiptap name of an attribute wins over its alias', () => {
  expect(resolveNode(nodeWith('ordered_list', { order: 2, start: 5 })).attrs).toMatchObject({ start: 5 });
  expect(resolveNode(nodeWith('orderedList', { order: 2 })).attrs).toMatchObject({ start: 2 });
});

test('unknown names and those of objects are unchanged', () => {
  for (const type of ['x', 'bulletlist', '__proto__', 'constructor', 'toString']) {
    expect(resolveNode(node(type))).toEqual(node(type));
    expect(resolveMarks([{ type }])).toEqual([{ type }]);
  }
  // a mark's name does not name a node, and the other way round
  expect(resolveNode(node('strong')).type).toBe('strong');
  expect(resolveMarks([{ type: 'bullet_list' }])).toEqual([{ type: 'bullet_list' }]);
});
