/** Tests which elements of HTML become rich text, and that no other element loses its text. */
import { expect, test } from '@jest/globals';
import { fromParse5 } from 'hast-util-from-parse5';
import { parseFragment } from 'parse5';
import { findFaults } from './faults.ts';
import { fromHast } from './from-hast.ts';
import type { HastDrop } from './hast-element-kinds.ts';
import { createHastElement } from './hast-elements.ts';
import { groupItems } from './hast-lists.ts';
import { toHtml } from './html.ts';
import type { RichText } from './tree.ts';

let drops: HastDrop[] = [];
let flattened = 0;

function convert(html: string): RichText[] {
  [drops, flattened] = [[], 0];
  const root = fromParse5(parseFragment(html));
  const children = root.type === 'root' ? root.children : [];
  const blocks = fromHast(children, {
    toImage: ({ properties: { src, alt } }) =>
      src === 'none' ? `[picture: ${alt}]` : { type: 'image', attrs: { src } },
    onDrop: (what) => drops.push(what),
    onFlatten: () => {
      flattened += 1;
    },
  });
  expect(findFaults({ type: 'doc', content: blocks })).toEqual([]);
  return blocks;
}

/** A short form: `paragraph(a bold(b))`. */
function format(node: RichText): string {
  const attrs = node.attrs ? JSON.stringify(node.attrs) : '';
  const plain = node.text ?? `${node.type}${attrs}(${(node.content ?? []).map(format).join('')})`;
  return (node.marks ?? []).reduce((text, { type }) => `${type}(${text})`, plain);
}

test.each<[string, string, string[]]>([
  ['paragraphs', '<p>a</p><p>b</p>', ['paragraph(a)', 'paragraph(b)']],
  ['loose text', 'a<div>b</div>c', ['paragraph(a)', 'paragraph(b)', 'paragraph(c)']],
  ['white space', '<p>  a \n <b> b </b> c  </p>', ['paragraph(a bold(b )c)']],
  ['marks', '<p><b><i>a</i></b><u>b</u><s>c</s></p>', ['paragraph(italic(bold(a))underline(b)strike(c))']],
  ['sub and sup', '<p>H<sub>2</sub>x<sup>2</sup></p>', ['paragraph(Hsubscript(2)xsuperscript(2))']],
  ['breaks', '<p>a<br>b<br></p>', ['paragraph(ahardBreak()b)']],
  ['safe links', '<a href="https://a.example/">a</a>', ['paragraph(link(a))']],
  ['unsafe links', '<a href="javascript:x">a</a>', ['paragraph(a)']],
  ['headings', '<h3>a</h3>', ['heading{"level":3}(a)']],
  ['a rule', 'a<hr>b', ['paragraph(a)', 'horizontalRule()', 'paragraph(b)']],
  ['code', '<pre><code class="language-sh">a\n  b\n</code></pre>', ['codeBlock{"language":"sh"}(a\n  b)']],
  ['a quote', '<blockquote>a</blockquote>', ['blockquote(paragraph(a))']],
  ['an alert', '<blockquote><p>[!CAUTION]\na</p></blockquote>', ['callout{"kind":"caution"}(paragraph(a))']],
  [
    'an alert with the word of a danger',
    '<blockquote><p>[!CAUTION]<br><b>DANGER</b></p><p>a</p></blockquote>',
    ['callout{"kind":"danger"}(paragraph(a))'],
  ],
  [
    'an alert with only the word of a danger',
    '<blockquote><p>[!CAUTION]\n<strong>DANGER</strong></p></blockquote>',
    ['callout{"kind":"danger"}(paragraph())'],
  ],
  [
    'an alert in small letters',
    '<blockquote><p>[!note] a</p></blockquote>',
    ['callout{"kind":"note"}(paragraph(a))'],
  ],
  [
    'an alert that begins with the word of a danger',
    '<blockquote><p>[!CAUTION]\n<strong>DANGER</strong> of fire</p></blockquote>',
    ['callout{"kind":"caution"}(paragraph(bold(DANGER) of fire))'],
  ],
  [
    'an alert of another kind with the word of a danger',
    '<blockquote><p>[!NOTE]\n<strong>DANGER</strong></p></blockquote>',
    ['callout{"kind":"note"}(paragraph(bold(DANGER)))'],
  ],
  [
    'a quote in a list that is labelled as a warning',
    '<ul><li>a<blockquote><p><b>WARNING</b></p><p>b</p></blockquote></ul>',
    ['bulletList(listItem(paragraph(a)callout{"kind":"warning"}(paragraph(b))))'],
  ],
  [
    'a quote with a label outside of other blocks',
    '<blockquote><p><b>WARNING</b></p><p>a</p></blockquote>',
    ['blockquote(paragraph(bold(WARNING))paragraph(a))'],
  ],
  [
    'a quote in a list with only a bold word',
    '<ul><li>a<blockquote><p><b>WARNING</b></p></blockquote></ul>',
    ['bulletList(listItem(paragraph(a)blockquote(paragraph(bold(WARNING)))))'],
  ],
  ['an empty quote', '<blockquote> </blockquote>', []],
  ['a list', '<ul><li>a<li>b</ul>', ['bulletList(listItem(paragraph(a))listItem(paragraph(b)))']],
  [
    'a list in a list',
    '<ul><li>a</li><ol><li>b</ol></ul>',
    ['bulletList(listItem(paragraph(a)orderedList(listItem(paragraph(b)))))'],
  ],
  ['a first number', '<ol start="4"><li>a</ol>', ['orderedList{"start":4}(listItem(paragraph(a)))']],
  [
    'numbers of items',
    '<ol><li value="4">a<li>b<li value="6">c<li value="9">d<li value="x">e<li value="-1">f</ol><ul><li>g<li value="2">h</ul>',
    [
      'orderedList{"start":4}(listItem(paragraph(a))listItem(paragraph(b))listItem(paragraph(c)))',
      'orderedList{"start":9}(listItem(paragraph(d))listItem(paragraph(e))listItem(paragraph(f)))',
      'bulletList(listItem(paragraph(g))listItem(paragraph(h)))',
    ],
  ],
  [
    'checkboxes',
    '<ul><li><input type="checkbox" checked> a</li><li>b</li></ul>',
    ['taskList(taskItem{"checked":true}(paragraph(a)))', 'bulletList(listItem(paragraph(b)))'],
  ],
  [
    'joined cells',
    '<table><tr><th colspan="2">a<tr><td rowspan="2">b<td></table>',
    [
      'table(tableRow(tableHeader{"colspan":2}(paragraph(a)))tableRow(tableCell{"rowspan":2}(paragraph(b))tableCell(paragraph())))',
    ],
  ],
  [
    'a row that only joined cells cover',
    '<table><tr></tr><tr><td rowspan="2">a<td rowspan="3">b<tr></tr><tr><td>c<tr><td>d<td>e</table>',
    [
      'table(tableRow(tableCell(paragraph(a))tableCell{"rowspan":2}(paragraph(b)))tableRow(tableCell(paragraph(c)))tableRow(tableCell(paragraph(d))tableCell(paragraph(e))))',
    ],
  ],
  [
    'a cell that ends with its row group',
    '<table><thead><tr><th rowspan=2>A<th>B</thead><tbody><tr><td rowspan=9>1<td>2</table>',
    [
      'table(tableRow(tableHeader(paragraph(A))tableHeader(paragraph(B)))tableRow(tableCell{"rowspan":9}(paragraph(1))tableCell(paragraph(2))))',
    ],
  ],
  ['a picture alone', '<p><img src="x"></p>', ['image{"src":"x"}()']],
  ['a picture in text', '<p>a <img src="x"> b</p>', ['paragraph(a image{"src":"x"}() b)']],
  ['a missing picture', '<p><img src="none" alt="valve"></p>', ['paragraph([picture: valve])']],
  ['a linked picture', '<a href="https://a.example/"><img src="x"></a>', ['link(image{"src":"x"}())']],
  ['a bold picture with an unsafe link', '<a href="x:"><b><img src="x"></b></a>', ['image{"src":"x"}()']],
  ['unknown elements', '<x-a>a<x-b>b</x-b></x-a>', ['paragraph(ab)']],
  ['blocks in unknown elements', '<x-a>a<p>b</p></x-a>c', ['paragraph(a)', 'paragraph(b)', 'paragraph(c)']],
  [
    'elements in a line',
    '<p>Press <picture><source srcset="y"><img src="x"></picture> <acronym>now</acronym> in <st1:City>Bonn</st1:City>.</p>',
    ['paragraph(Press image{"src":"x"}() now in Bonn.)'],
  ],
  [
    'fractions, powers and roots',
    '<p>Set <math><mi>a</mi><mo>+</mo><mfrac><mn>1</mn><mn>2</mn></mfrac><mo>+</mo><msup><mn>10</mn><mn>3</mn></msup><mo>+</mo><msqrt><mi>x</mi><mi>y</mi></msqrt></math>.</p>',
    ['paragraph(Set a+(1)/(2)+10^(3)+√(xy).)'],
  ],
  [
    'limits, matrices and annotations',
    '<math><semantics><mrow><munderover><mo>∑</mo><mi>i</mi><mi>n</mi></munderover><mtable><mtr><mtd>1</mtd><mtd>2</mtd></mtr><mtr><mtd>3</mtd><mtd>4</mtd></mtr></mtable></mrow><annotation>t</annotation><annotation-xml>u</annotation-xml></semantics></math>',
    ['paragraph(∑_(i)^(n)[1, 2; 3, 4])'],
  ],
  ['hidden elements', '<p hidden>a</p><style>b</style><template>c</template>', []],
])('HTML becomes rich text: %s', (_name, html, expected) => {
  expect(convert(html).map(format)).toEqual(expected);
});

test('scripts, controls, frames and unsafe links are counted', () => {
  convert(
    '<script>1</script><input name="a"><iframe></iframe><a href="ftp://a.example">b</a><a href="#c">d</a>',
  );
  expect(drops).toEqual(['script', 'form_control', 'embedded_content', 'unsafe_link']);
});

// would take minutes in quadratic time
test('200,000 lists after one item are read', () => {
  const list = createHastElement('ol', {}, [
    createHastElement('li'),
    ...Array.from({ length: 200_000 }, () => createHastElement('ul')),
  ]);
  expect(groupItems(list)).toHaveLength(1);
});

test('a table is the same after HTML is read and written again', () => {
  const cell = (type: string, rowspan: number): RichText => ({ type, attrs: { rowspan } });
  const row = (...content: RichText[]): RichText => ({ type: 'tableRow', content });
  const th = (rowspan = 1) => cell('tableHeader', rowspan);
  const td = (rowspan = 1) => cell('tableCell', rowspan);
  const tables = [
    [row(th(2), th()), row(td())],
    [row(th(2), th()), row(th()), row(td(9), td())],
    [row(th(), th()), row(th(2), th()), row(td())],
    [row(th(), th(9))],
  ];
  for (const content of tables) {
    const html = toHtml({ type: 'table', content });
    const [table] = convert(html);
    expect(table && toHtml(table)).toBe(
      html.replaceAll('></th>', '><p></p></th>').replaceAll('></td>', '><p></p></td>'),
    );
  }
});

test('lists deeper than 32 levels become paragraphs with all texts', () => {
  const depth = 40;
  const html = Array.from({ length: depth }, (_, at) => `<ul><li>item ${at}`).join('');
  const blocks = convert(html);
  expect(flattened).toBeGreaterThan(0);
  expect(JSON.stringify(blocks).match(/item \d+/g)).toHaveLength(depth);
});
