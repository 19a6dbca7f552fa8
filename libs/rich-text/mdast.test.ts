/** Tests of what remains of rich text in the Markdown export. */
import { expect, test } from '@jest/globals';
import { br, doc, li, link, node, nodeWith, p, text } from '../../tests/fixtures/generators/rich-text.ts';
import { createRandom, hostileTree } from '../../tests/rich-text/hostile.ts';
import { dataUri, png } from '../../tests/rich-text/sample-images.ts';
import { toMarkdown } from '../markdown/markdown.ts';
import { toMdast } from './mdast.ts';
import type { RichText } from './tree.ts';

const task = (checked: boolean, ...content: RichText[]) => nodeWith('taskItem', { checked }, ...content);
const row = (...cells: string[]) => node('tableRow', ...cells.map((cell) => node('tableCell', p(cell))));
const callout = (kind: string, ...content: RichText[]) => nodeWith('callout', { kind }, ...content);
const markdown = (content: RichText) => toMarkdown(toMdast(content));

test.each<[string, RichText, string[]]>([
  ['paragraphs are separated by an empty line', doc(p('a'), p('b')), ['a', '', 'b']],
  ['headings become paragraphs', doc(nodeWith('heading', { level: 1 }, 'a'), p('b')), ['a', '', 'b']],
  ['marks are dropped', p('a ', text('b', 'bold', 'italic'), text('c', 'code', 'strike')), ['a bc']],
  ['a hard break becomes two spaces and a line feed', p('a', br, br, 'b', br), ['a  ', 'b']],
  ['white space is collapsed as in a browser', p(' a\n\n  b\t', br, '  c '), ['a b  ', 'c']],
  ['ordered lists become bullets', nodeWith('orderedList', { start: 3 }, li('a'), li('b')), ['- a', '- b']],
  [
    'nested lists stay nested',
    node('bulletList', li('a', node('orderedList', li('b', node('bulletList', li('c'))))), li('d')),
    ['- a', '  - b', '    - c', '- d'],
  ],
  [
    'two adjacent lists stay separate lists',
    doc(node('bulletList', li('a')), node('orderedList', li('b'))),
    ['- a', '', '* b'],
  ],
  [
    'paragraphs of one list item stay separate',
    node('bulletList', li('a', p('b')), li('c')),
    ['- a', '', '  b', '', '- c'],
  ],
  [
    'a list item may start with a list',
    node('bulletList', node('listItem', node('bulletList', li('a')))),
    ['- - a'],
  ],
  [
    'empty items, lists and paragraphs are omitted',
    doc(p(), node('bulletList', li(''), li('a')), node('bulletList', li(' '))),
    ['- a'],
  ],
  [
    'task items have checkboxes',
    node('taskList', task(true, p('a')), task(false, p('b'), node('taskList', task(true, p('c'))))),
    ['- [x] a', '- [ ] b', '  - [x] c'],
  ],
  [
    'only the first paragraph of a task has the checkbox',
    node('taskList', task(true, p('a'), p('b'))),
    ['- [x] a', '', '  b'],
  ],
  [
    'a task that starts with a list has a checkbox',
    node('taskList', task(true, node('bulletList', li('a')))),
    ['- [x]', '  - a'],
  ],
  ['quotes become paragraphs', node('blockquote', p('a'), node('blockquote', p('b'))), ['a', '', 'b']],
  ['rules are dropped', doc(p('a'), { type: 'horizontalRule' }, p('b')), ['a', '', 'b']],
  [
    'each table row becomes one paragraph',
    node('table', row('a', 'b'), row('c', ''), row('', '')),
    ['a | b', '', 'c |'],
  ],
  [
    'joined table cells do not shift columns',
    node(
      'table',
      node(
        'tableRow',
        nodeWith('tableCell', { colspan: 2 }, p('a')),
        nodeWith('tableCell', { rowspan: 2 }, p('b')),
      ),
      row('c', 'd'),
      row('e', 'f', 'g'),
    ),
    ['a |  | b', '', 'c | d |', '', 'e | f | g'],
  ],
  [
    'a table cell is written in one line',
    node(
      'table',
      node(
        'tableRow',
        node('tableCell', p('a', br, 'b'), node('bulletList', li('c'))),
        node('tableCell', p('d')),
      ),
    ),
    ['a b c | d'],
  ],
  [
    'code keeps lines and indentation, blank lines split paragraphs',
    node('codeBlock', 'if a:\r\n  b \n\tc\n\n\nd'),
    ['if a:  ', '\u00a0\u00a0b  ', '\u00a0\u00a0\u00a0\u00a0c', '', 'd'],
  ],
  ['a callout begins with its signal word', callout('warning', p('a'), p('b')), ['WARNING: a', '', 'b']],
  [
    'a callout that begins with a list has its signal word above',
    callout('danger', node('bulletList', li('a'))),
    ['DANGER', '', '- a'],
  ],
  [
    'a callout in a table cell has its signal word',
    node('table', node('tableRow', node('tableCell', callout('note', p('a'))), node('tableCell', p('b')))),
    ['NOTE: a | b'],
  ],
  ['a callout without text is its signal word', doc(callout('danger', p()), p('a')), ['DANGER', '', 'a']],
  ['unknown nodes give their text', doc(node('panel', p('a')), { type: 'x', text: 'b' }), ['a', '', 'b']],
  [
    'images give their alt text',
    doc(
      p('See ', nodeWith('image', { src: dataUri('image/png', png(1, 1)), alt: 'a valve' }), '.'),
      nodeWith('image', { src: 'https://a.example' }),
    ),
    ['See a valve.'],
  ],
])('toMarkdown: %s', (_, content, lines) => {
  expect(markdown(content)).toBe(lines.join('\n'));
});

test.each<[string, RichText, string]>([
  [
    'a link is written as its text and its target',
    p('a ', text('b ', link('https://a.example/x')), 'c'),
    'a b (https://a.example/x) c',
  ],
  [
    'the target is written once after the whole link text',
    p(text('a', link('https://a.example')), text('b', 'bold', link('https://a.example'))),
    'ab (https://a.example/)',
  ],
  [
    'a link across a hard break has its target at the end',
    p(
      text('a', link('https://a.example')),
      { ...br, marks: [link('https://a.example')] },
      text('b', link('https://a.example')),
    ),
    'a  \nb (https://a.example/)',
  ],
  [
    'a link text that differs by a break is not taken for the target',
    p(
      text('https://a', link('https://a.b')),
      { ...br, marks: [link('https://a.b')] },
      text('.b', link('https://a.b')),
    ),
    'https://a  \n.b (https://a.b/)',
  ],
  [
    'adjacent links with different targets are two links',
    p(text('a', link('https://a.example')), text('b', link('https://b.example'))),
    'a (https://a.example/)b (https://b.example/)',
  ],
  [
    'a target that equals the link text is not repeated',
    p(text('https://a.example', link('https://a.example/'))),
    'https://a.example',
  ],
  [
    'a mail address that equals the link text is not repeated',
    p(text('a@b.example', link('mailto:a@b.example'))),
    'a@b.example',
  ],
  [
    'a link without text is written as its target',
    p('a ', text(' ', link('https://a.example'))),
    'a https://a.example/',
  ],
  ['an unsafe link is written as its text only', p(text('a', link('javascript:alert(1)'))), 'a'],
])('toMarkdown with links: %s', (_, content, line) => {
  expect(markdown(content)).toBe(line);
});

test('toMdast emits only paragraphs, bullet lists, items, texts and breaks', () => {
  const random = createRandom(3);
  for (let count = 0; count < 1000; count++) {
    const types = JSON.stringify(toMdast(hostileTree(random))).matchAll(/"type":"(.*?)"/g);
    const found = new Set([...types].map(([, type]) => type));
    expect(['paragraph', 'list', 'listItem', 'text', 'break']).toEqual(expect.arrayContaining([...found]));
  }
});

test('lists are unordered, and spread only with several paragraphs', () => {
  expect(toMdast(nodeWith('orderedList', { start: 2 }, li('a')))).toEqual([
    {
      type: 'list',
      ordered: false,
      spread: false,
      children: [
        {
          type: 'listItem',
          spread: false,
          children: [{ type: 'paragraph', children: [{ type: 'text', value: 'a' }] }],
        },
      ],
    },
  ]);
});
