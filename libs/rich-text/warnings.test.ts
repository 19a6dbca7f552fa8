/** Tests of the warnings about rich text that will not be shown. */
import { expect, test } from '@jest/globals';
import { doc, li, link, node, nodeWith, p, text } from '../../tests/fixtures/generators/rich-text.ts';
import { createRandom, hostileTree } from '../../tests/rich-text/hostile.ts';
import { dataUri, gif, webp } from '../../tests/rich-text/sample-images.ts';
import { knownMarks } from './known-marks.ts';
import { knownNodes } from './known-nodes.ts';
import { toPlainText } from './text.ts';
import type { RichText } from './tree.ts';
import { findWarnings } from './warnings.ts';

const find = (content: RichText) => findWarnings(content, 100).map(({ path, code }) => `${path} ${code}`);
const image = (src: unknown) => nodeWith('image', { src });

test('content that is shown completely has no warnings', () => {
  const content = doc(
    nodeWith('heading', { level: 2, textAlign: null, id: 'x' }, 'a'),
    p(text('b', 'bold', link('https://a.example'), { type: 'textStyle', attrs: { color: '#c00' } })),
    nodeWith('ordered_list', { order: 2, type: null }, li('c')),
    nodeWith('callout', { kind: 'danger' }, p('d')),
    p(image(dataUri('image/gif', gif(1, 1))), nodeWith('mention', { id: 7 }), node('mention', 'x')),
    node('table', node('tableRow', nodeWith('tableCell', { colspan: 1, colwidth: [9] }, p('e')))),
  );
  expect(find(content)).toEqual([]);
  const examples = [
    ...knownNodes.map(({ example }) => example),
    ...knownMarks.map(({ example }) => p(text('x', example))),
  ];
  expect(examples.flatMap(find)).toEqual([]);
});

test.each<[string, RichText, string[]]>([
  ['an unknown node', doc(p('a'), node('youtube')), ['content/1 unknown_node']],
  ['an unknown root', node('document', p('a')), [' unknown_node']],
  [
    'a node inside an unknown node',
    node('x', p(node('y'))),
    [' unknown_node', 'content/0/content/0 unknown_node'],
  ],
  [
    'a width that is not a list',
    node('table', node('tableRow', nodeWith('tableCell', { colwidth: 120 }, p('a')))),
    ['content/0/content/0/attrs/colwidth invalid_attribute'],
  ],
  ['an unknown mark', p(text('a', 'bold', 'comment')), ['content/0/marks/1 unknown_mark']],
  ['a remote image', doc(image('https://a.example/a.png')), ['content/0 image_not_shown']],
  ['an SVG', doc(image('data:image/svg+xml;base64,PHN2Zy8+')), ['content/0 image_not_shown']],
  ['a WebP', doc(image(dataUri('image/webp', webp(1, 1)))), ['content/0 image_not_shown']],
  ['an image without a source', doc(node('image')), ['content/0 image_not_shown']],
  ['an unsafe link', p(text('a', link('javascript:alert(1)'))), ['content/0/marks/0 link_removed']],
  ['a relative link', p(text('a', link('/a'))), ['content/0/marks/0 link_removed']],
  [
    'an unknown kind of callout',
    nodeWith('callout', { kind: 'tip' }, p('a')),
    ['attrs/kind invalid_attribute'],
  ],
  [
    'a heading level in a string',
    nodeWith('heading', { level: '2' }, 'a'),
    ['attrs/level invalid_attribute'],
  ],
  [
    'an unknown colour',
    p(text('a', { type: 'text_style', attrs: { color: 'var(--a)' } })),
    ['content/0/marks/0/attrs/color invalid_attribute'],
  ],
  [
    'a list start under its alias',
    nodeWith('ordered_list', { order: -1 }, li('a')),
    ['attrs/order invalid_attribute'],
  ],
  ['a mention without a name', p(node('mention')), ['content/0 no_text']],
  ['a formula without LaTeX', doc(nodeWith('blockMath', { latex: ' ' })), ['content/0 no_text']],
])('findWarnings finds %s', (_, content, expected) => {
  expect(find(content)).toEqual(expected);
});

test('findWarnings lists at most as many as asked for, in reading order', () => {
  const content = doc(...Array.from({ length: 300 }, () => p(node('x'))));
  expect(findWarnings(content, 100)).toHaveLength(100);
  expect(find(content).slice(0, 2)).toEqual([
    'content/0/content/0 unknown_node',
    'content/1/content/0 unknown_node',
  ]);
  expect(findWarnings(content, 0)).toEqual([]);
});

test('long and hostile names are cut in messages', () => {
  const [warning] = findWarnings(node('x'.repeat(9_999)), 100);
  expect(warning?.message.length).toBeLessThan(120);
  for (const type of ['__proto__', 'constructor', 'toString'])
    expect(find(p(text('a', type), node(type)))).toEqual([
      'content/0/marks/0 unknown_mark',
      'content/1 unknown_node',
    ]);
});

test('findWarnings never throws on hostile trees', () => {
  const random = createRandom(21);
  for (let count = 0; count < 500; count++) expect(() => find(hostileTree(random))).not.toThrow();
});

test('text in attributes that is lost has a warning', () => {
  for (const type of ['emoji', 'mention', 'youtube', 'image', 'details']) {
    const lost = nodeWith(type, { name: 'words', src: 'words' });
    expect([type, toPlainText(lost), find(doc(lost)).length]).toEqual([type, '', 1]);
  }
});
