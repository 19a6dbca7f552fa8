/** Tests of rich text as GitHub Flavored Markdown. */
import { expect, test } from '@jest/globals';
import { br, doc, li, link, node, nodeWith, p, text } from '../../tests/fixtures/generators/rich-text.ts';
import { outlineGfm } from '../../tests/rich-text/gfm-outline.ts';
import { dataUri, png } from '../../tests/rich-text/sample-images.ts';
import { toMarkdown } from '../markdown/markdown.ts';
import { toGfm } from './gfm.ts';
import type { RichText } from './tree.ts';

const markdown = (content: RichText) => toMarkdown(toGfm(content, { headingLevel: 3 }));
const cell = (value: string, attrs = {}) => nodeWith('tableCell', attrs, p(value));
const header = (value: string, attrs = {}) => nodeWith('tableHeader', attrs, p(value));
const row = (...cells: RichText[]) => node('tableRow', ...cells);
const picture = dataUri('image/png', png(2, 1));

test.each<[string, RichText, string[]]>([
  [
    'marks are written as emphasis, strong, strike and code',
    p(text('a', 'bold'), text('b', 'italic'), ' ', text('c', 'strike'), ' ', text('d|`', 'code')),
    ['**a**_b_ ~~c~~ `` d|` ``'],
  ],
  ['spaces are outside of marks', p('a', text(' b ', 'bold'), 'c'), ['a **b** c']],
  ['marks without GFM are dropped', p(text('a', 'underline', 'highlight')), ['a']],
  [
    'powers stay powers',
    p('10', text('5', 'superscript'), ' H', text('2', 'subscript')),
    ['10<sup>5</sup> H<sub>2</sub>'],
  ],
  [
    'a link has its text and target',
    p(text('a', 'bold', link('https://a.example/b_c'))),
    ['[**a**](https://a.example/b_c)'],
  ],
  ['a hard break becomes two spaces', p('a', br, br, 'b', br), ['a  ', 'b']],
  [
    'headings are below the given level and in one line',
    doc(nodeWith('heading', { level: 2 }, 'a', br, 'b'), nodeWith('heading', { level: 3 }, 'c')),
    ['### a b', '', '#### c'],
  ],
  [
    'code has its language and a fence that is longer than those in it',
    nodeWith('codeBlock', { language: 'ts' }, '```\na\r\n````'),
    ['`````ts', '```', 'a', '````', '`````'],
  ],
  [
    'a language that could leave its line is dropped',
    nodeWith('codeBlock', { language: 'a`\nb' }, 'c'),
    ['```', 'c', '```'],
  ],
  [
    'lists keep their kind, start and nesting',
    nodeWith('orderedList', { start: 9 }, li('a', node('bulletList', li('b'))), li('c')),
    ['9. a', '   - b', '10. c'],
  ],
  [
    'numbers above 32,767 start from 1',
    nodeWith('orderedList', { start: 32_768 }, li('a'), li('b')),
    ['1. a', '2. b'],
  ],
  ['the number 32,767 is kept', nodeWith('orderedList', { start: 32_767 }, li('a')), ['32767. a']],
  [
    'numbers above 32,767 in a cell start from 1',
    node('table', node('tableRow', node('tableHeader', nodeWith('orderedList', { start: 32_768 }, li('a'))))),
    ['| 1. a |', '| --- |'],
  ],
  [
    'an empty item of an ordered list has its number',
    node('orderedList', li(''), li('a')),
    ['1. &#x20;', '2. a'],
  ],
  [
    'tasks have checkboxes',
    node('taskList', nodeWith('taskItem', { checked: true }, p('a')), nodeWith('taskItem', {})),
    ['- [x] a', '- [ ] &#x20;'],
  ],
  [
    'blocks in an item are separated by empty lines',
    node('bulletList', li('a', node('blockquote', p('b')))),
    ['- a', '', '  > b'],
  ],
  [
    'a rule cannot become a part of a list or heading',
    doc(p('a'), { type: 'horizontalRule' }),
    ['a', '', '___'],
  ],
  [
    'an embedded picture stays, a remote one becomes a link',
    p(
      nodeWith('image', { src: picture, alt: 'A ]', title: '"T"' }),
      nodeWith('image', { src: 'https://a.example/b.png', alt: 'c' }),
      nodeWith('image', { src: 'javascript:alert(1)', alt: 'd' }),
    ),
    [`![A \\]](${picture} "\\"T\\"")[c](https://a.example/b.png)d`],
  ],
])('toGfm: %s', (_, content, lines) => {
  expect(markdown(content)).toBe(lines.join('\n'));
});

test.each<[string, RichText, string[]]>([
  [
    'the first row of header cells is the header',
    node('table', row(header('a'), header('b')), row(cell('c'), cell('d'))),
    ['| a | b |', '| --- | --- |', '| c | d |'],
  ],
  [
    'a table without a header row has an empty one, and row headers are bold',
    node('table', row(header('a'), cell('b'))),
    ['| | |', '| --- | --- |', '| **a** | b |'],
  ],
  [
    'joined cells do not shift columns',
    node(
      'table',
      row(header('a'), header('b', { colspan: 2 })),
      row(cell('c', { rowspan: 2 }), cell('d'), cell('e')),
      row(cell('f'), cell('g')),
    ),
    ['| a | b | |', '| --- | --- | --- |', '| c | d | e |', '| | f | g |'],
  ],
  [
    'blocks in a cell become lines',
    node(
      'table',
      row(
        node(
          'tableHeader',
          p('a|', br, 'b'),
          nodeWith('orderedList', { start: 2 }, li('c', node('bulletList', li('d')))),
          node('taskList', nodeWith('taskItem', { checked: true }, p('e'))),
          node('codeBlock', 'f\n\ng'),
          nodeWith('callout', { kind: 'danger' }, p('h')),
        ),
      ),
    ),
    ['| a\\|<br>b<br>2. c<br>\u00a0\u00a0\u00a0• d<br>☑ e<br>`f`<br>`g`<br>**DANGER**<br>h |', '| --- |'],
  ],
  [
    'code with a backslash before a pipe survives in a cell',
    node('table', row(node('tableHeader', p(text('a\\|b|c', 'code'))))),
    ['| <code>a\\\\\\|b\\|c</code> |', '| --- |'],
  ],
])('toGfm with tables: %s', (_, content, lines) => {
  expect(markdown(content)).toBe(lines.join('\n'));
});

const callout = (kind: string, ...content: RichText[]) => nodeWith('callout', { kind }, ...content);

test.each<[string, RichText, string[]]>([
  ['a warning is an alert', callout('warning', p('a')), ['> [!WARNING]', '> a']],
  [
    'an alert that begins with a list has an empty line',
    callout('note', node('bulletList', li('a'))),
    ['> [!NOTE]', '>', '> - a'],
  ],
  [
    'a danger is the most severe alert with its own word',
    callout('danger', p('a')),
    ['> [!CAUTION]', '> **DANGER**', '>', '> a'],
  ],
  [
    'a callout in another block is a quote, because GitHub has no alerts there',
    node('blockquote', callout('caution', p('a'))),
    ['> > **CAUTION**', '> >', '> > a'],
  ],
  ['a typed alert in a quote is text', node('blockquote', p('[!NOTE]', br, 'a')), ['> \\[!NOTE]  ', '> a']],
])('toGfm with callouts: %s', (_, content, lines) => {
  expect(markdown(content)).toBe(lines.join('\n'));
});

test.each<[string, RichText]>([
  ['a mail link whose text is a tag', p(text('script', link('mailto:script')))],
  [
    'a tag in text',
    p('<img src=x onerror=alert(1)>', text('<b>', 'bold'), text('<i>', link('https://a.example'))),
  ],
  ['a tag in a cell', node('table', row(cell('<br><script>'), cell('</td>')))],
  ['a tag in attributes of an image', p(nodeWith('image', { src: picture, alt: '"><b>', title: '"><b>' }))],
])('%s never becomes HTML', (_, content) => {
  expect(JSON.stringify(outlineGfm(markdown(content)))).not.toContain('"html ');
});

test.each([
  ['https://a.example', 'https\\://a.example**b**'],
  ['a_b@c.example', 'a_b\\@c.example**b**'],
  ['https://a.example ', 'https://a.example **b**'],
])('the address %p before markup ends where its text ends', (address, expected) => {
  expect(markdown(p(address, text('b', 'bold')))).toBe(expected);
});

test('toGfm handles 2,000 marks in one paragraph', () => {
  const leaves = Array.from({ length: 2_000 }, (_, at) => text('a', at % 2 === 0 ? 'bold' : 'italic'));
  expect(markdown(p(...leaves)).length).toBeGreaterThan(2_000);
});
