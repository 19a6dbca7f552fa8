/** Tests Markdown: the order of the tree, and hostile text that must stay text. */
import { expect, test } from '@jest/globals';
import type { RichText } from '#libs/rich-text';
import { createDocument, createNode, createParagraph } from '../../../tests/word/samples.ts';
import type { ExportDocument } from './document.ts';
import { renderMarkdown as render } from './markdown.ts';

const renderMarkdown = (document: ExportDocument) => render(document, 'plain');
const list = (type: string, ...items: RichText[]): RichText => ({
  type,
  content: items.map((item) => ({ type: 'listItem', content: [item] })),
});

test('Markdown has the title, properties and one heading level per node type', () => {
  const third = createNode('Third', [createParagraph('deep')], { node_type: 'sub_step' });
  const second = createNode('Second', [createParagraph('two')], { node_type: 'step', children: [third] });
  const first = createNode('First', [createParagraph('one')], { children: [second] });
  expect(renderMarkdown(createDocument([first]))).toBe(
    '# Pay\n\nVersion 1.2 · Department Ops\n\n## First\n\none\n\n### Second\n\ntwo\n\n#### Third\n\ndeep\n',
  );
});

test('headings in the text of a node are below its own, and closed, in GFM', () => {
  const heading = (level: number) => ({
    type: 'heading',
    attrs: { level },
    content: [{ type: 'text', text: `Level ${level}` }],
  });
  const step = createNode('Step', [heading(2), heading(3)], { node_type: 'step' });
  const section = createNode('Section', [heading(1)], { children: [step] });
  expect(render(createDocument([section], { version: null, department: null }), 'gfm')).toBe(
    '# Pay\n\n## Section\n\n### Level 1 #\n\n### Step\n\n#### Level 2 #\n\n##### Level 3 #\n',
  );
});

test('the Markdown property line has only the properties that are set', () => {
  expect(renderMarkdown(createDocument([], { version: null }))).toBe('# Pay\n\nDepartment\u00a0Ops\n');
  expect(renderMarkdown(createDocument([], { department: null }))).toBe('# Pay\n\nVersion 1.2\n');
  const draft = createDocument([], { version: '2 draft', department: null });
  expect(renderMarkdown(draft)).toBe('# Pay\n\nVersion\u00a02 draft\n');
  expect(renderMarkdown(createDocument([], { version: '', department: ' ' }))).toBe('# Pay\n');
  expect(renderMarkdown(createDocument([], { version: null, department: null }))).toBe('# Pay\n');
});

test('ordered lists become nested bullet lists in Markdown', () => {
  const inner = list('orderedList', createParagraph('b'));
  const outer = {
    type: 'bulletList',
    content: [{ type: 'listItem', content: [createParagraph('a'), inner] }],
  };
  expect(renderMarkdown(createDocument([createNode('N', [outer])]))).toContain('- a\n  - b\n');
});

test('a heading inside the text becomes a Markdown paragraph', () => {
  const heading = { type: 'heading', attrs: { level: 1 }, content: [{ type: 'text', text: 'Inner' }] };
  expect(renderMarkdown(createDocument([createNode('N', [heading])]))).toContain('## N\n\nInner\n');
});

test('a title can neither start a Markdown line nor become markup', () => {
  const markdown = renderMarkdown(
    createDocument([createNode('a\n# b')], { title: '[x](javascript:y)\n---' }),
  );
  expect(markdown).toMatch(/^# \\\[x]\\\(javascript:y\) ---\n/);
  expect(markdown).toContain('\n## a # b\n');
});
