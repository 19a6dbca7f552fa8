/** Promises about what of rich text is left in the Markdown export. */
import { expect, test } from '@jest/globals';
import { br, doc, li, link, node, nodeWith, p, text } from './build.ts';
import { toMarkdown } from './markdown.ts';
import { toMdast } from './mdast.ts';
import { createRandom, hostileTree } from './testing/hostile.ts';
import { dataUri, png } from './testing/sample-images.ts';
import type { RichText } from './tree.ts';

const task = (checked: boolean, ...content: RichText[]) => nodeWith('taskItem', { checked }, ...content);
const row = (...cells: string[]) => node('tableRow', ...cells.map((words) => node('tableCell', p(words))));
const markdown = (content: RichText) => toMarkdown(toMdast(content));

test.each<[string, RichText, string[]]>([
  ['paragraphs are separate', doc(p('a'), p('b')), ['a', '', 'b']],
  ['headings become paragraphs', doc(nodeWith('heading', { level: 1 }, 'a'), p('b')), ['a', '', 'b']],
  ['marks are dropped', p('a ', text('b', 'bold', 'italic'), text('c', 'code', 'strike')), ['a bc']],
  ['hard breaks end a line with two spaces', p('a', br, br, 'b', br), ['a  ', 'b']],
  ['white space is laid out as a browser does', p(' a\n\n  b\t', br, '  c '), ['a b  ', 'c']],
  ['ordered lists become bullets', nodeWith('orderedList', { start: 3 }, li('a'), li('b')), ['- a', '- b']],
  [
    'nested lists keep their nesting',
    node('bulletList', li('a', node('orderedList', li('b', node('bulletList', li('c'))))), li('d')),
    ['- a', '  - b', '    - c', '- d'],
  ],
  [
    'two lists in a row stay two',
    doc(node('bulletList', li('a')), node('orderedList', li('b'))),
    ['- a', '', '* b'],
  ],
  [
    'paragraphs of one item do not run together',
    node('bulletList', li('a', p('b')), li('c')),
    ['- a', '', '  b', '', '- c'],
  ],
  [
    'an item may begin with a list',
    node('bulletList', node('listItem', node('bulletList', li('a')))),
    ['- - a'],
  ],
  [
    'empty items, lists and paragraphs are left out',
    doc(p(), node('bulletList', li(''), li('a')), node('bulletList', li(' '))),
    ['- a'],
  ],
  [
    'tasks have boxes',
    node('taskList', task(true, p('a')), task(false, p('b'), node('taskList', task(true, p('c'))))),
    ['- [x] a', '- [ ] b', '  - [x] c'],
  ],
  [
    'only the first paragraph of a task has the box',
    node('taskList', task(true, p('a'), p('b'))),
    ['- [x] a', '', '  b'],
  ],
  [
    'a task without words before its list has a box',
    node('taskList', task(true, node('bulletList', li('a')))),
    ['- [x]', '  - a'],
  ],
  ['quotes become paragraphs', node('blockquote', p('a'), node('blockquote', p('b'))), ['a', '', 'b']],
  ['rules are dropped', doc(p('a'), { type: 'horizontalRule' }, p('b')), ['a', '', 'b']],
  [
    'each row of a table is a line',
    node('table', row('a', 'b'), row('c', ''), row('', '')),
    ['a | b', '', 'c |'],
  ],
  [
    'a cell is in one line',
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
    'code becomes its lines, indented by no-break spaces, a paragraph at each blank line',
    node('codeBlock', 'if a:\r\n  b \n\tc\n\n\nd'),
    ['if a:  ', '\u00a0\u00a0b  ', '\u00a0\u00a0\u00a0\u00a0c', '', 'd'],
  ],
  ['unknown nodes give their text', doc(node('callout', p('a')), { type: 'x', text: 'b' }), ['a', '', 'b']],
  [
    'images give their alt text',
    doc(
      p('See ', nodeWith('image', { src: dataUri('image/png', png(1, 1)), alt: 'a valve' }), '.'),
      nodeWith('image', { src: 'https://a.example' }),
    ),
    ['See a valve.'],
  ],
])('%s', (_, content, lines) => {
  expect(markdown(content)).toBe(lines.join('\n'));
});

test.each<[string, RichText, string]>([
  [
    'a link is its words and its target',
    p('a ', text('b ', link('https://a.example/x')), 'c'),
    'a b (https://a.example/x) c',
  ],
  [
    'the target comes once, after all words of the link',
    p(text('a', link('https://a.example')), text('b', 'bold', link('https://a.example'))),
    'ab (https://a.example/)',
  ],
  [
    'a link across a break has its target at the end',
    p(
      text('a', link('https://a.example')),
      { ...br, marks: [link('https://a.example')] },
      text('b', link('https://a.example')),
    ),
    'a  \nb (https://a.example/)',
  ],
  [
    'words that are the target only without their break are not the target',
    p(
      text('https://a', link('https://a.b')),
      { ...br, marks: [link('https://a.b')] },
      text('.b', link('https://a.b')),
    ),
    'https://a  \n.b (https://a.b/)',
  ],
  [
    'two targets are two links',
    p(text('a', link('https://a.example')), text('b', link('https://b.example'))),
    'a (https://a.example/)b (https://b.example/)',
  ],
  [
    'a target that is the words is not repeated',
    p(text('https://a.example', link('https://a.example/'))),
    'https://a.example',
  ],
  [
    'an address that is the words is not repeated',
    p(text('a@b.example', link('mailto:a@b.example'))),
    'a@b.example',
  ],
  [
    'a link without words is its target',
    p('a ', text(' ', link('https://a.example'))),
    'a https://a.example/',
  ],
  ['an unsafe link is only its words', p(text('a', link('javascript:alert(1)'))), 'a'],
])('%s', (_, content, line) => {
  expect(markdown(content)).toBe(line);
});

test('whatever goes in, only paragraphs, bullet lists, items, texts and breaks come out', () => {
  const random = createRandom(3);
  for (let count = 0; count < 1000; count++) {
    const types = JSON.stringify(toMdast(hostileTree(random))).matchAll(/"type":"(.*?)"/g);
    const found = new Set([...types].map(([, type]) => type));
    expect(['paragraph', 'list', 'listItem', 'text', 'break']).toEqual(expect.arrayContaining([...found]));
  }
});

test('a list is never numbered and its paragraphs are never loose without need', () => {
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
