/** Tests that text which looks like markup is escaped in Markdown. */
import { expect, test } from '@jest/globals';
import type { RootContent } from 'mdast';
import { doc, li, node, nodeWith, p } from '../../tests/fixtures/generators/rich-text.ts';
import { createRandom, hostileText, hostileTree } from '../../tests/rich-text/hostile.ts';
import { toMdast } from '../rich-text/mdast.ts';
import { toPlainText } from '../rich-text/text.ts';
import { toMarkdown } from './markdown.ts';

const toParagraph = (content: string) => toMarkdown(toMdast(p(content)));

test.each([
  ['# Not a heading', '\\# Not a heading'],
  ['> not a quote', '\\> not a quote'],
  ['- not an item', '\\- not an item'],
  ['+ not an item', '\\+ not an item'],
  ['* not an item', '\\* not an item'],
  ['1. not an item', '1\\. not an item'],
  ['2) not an item', '2\\) not an item'],
  ['---', '\\---'],
  ['===', '\\==='],
  ['***', '\\*\\*\\*'],
  ['___', '\\_\\_\\_'],
  ['```js', '\\`\\`\\`js'],
  ['~~~', '\\~\\~\\~'],
  ['~~not struck~~', '\\~\\~not struck\\~\\~'],
  ['*a* __b__ `c`', '\\*a\\* \\_\\_b\\_\\_ \\`c\\`'],
  ['[a](https://b.example)', '\\[a]\\(https://b.example)'],
  ['![a](b)', '!\\[a]\\(b)'],
  ['[a]: https://b.example', '\\[a]: https://b.example'],
  ['[^1]', '\\[^1]'],
  ['[x] not a task', '\\[x] not a task'],
  ['<b>not bold</b>', '\\<b>not bold\\</b>'],
  ['<https://a.example>', '\\<https://a.example>'],
  ['<7@a.example> <.@a> <7', '\\<7@a.example> \\<.@a> <7'],
  ['<!-- shown -->', '\\<!-- shown -->'],
  ['&amp; &#60; &lt;', '\\&amp; \\&#60; \\&lt;'],
  ['a\\*b', 'a\\\\\\*b'],
  ['😀_a_😀 𝒳__b', '😀\\_a\\_😀 𝒳\\_\\_b'],
  ['|-|-|', '\\|-|-|'],
  [':-: | -', '\\:-: | -'],
  ['-|-', '\\-|-'],
  ['AT&T, 3 < 5, a_b? 100%', 'AT\\&T, 3 < 5, a_b? 100%'],
])('%s is escaped as text', (content, markdown) => {
  expect(toParagraph(content)).toBe(markdown);
});

test('a line after a hard break is escaped, also as a table delimiter row', () => {
  const lines = (first: string, second: string) =>
    toMarkdown(toMdast(p(first, { type: 'hardBreak' }, second)));
  for (const [second, safe] of [
    ['---', '\\---'],
    ['===', '\\==='],
    ['# b', '\\# b'],
    ['- | -', '\\- | -'],
    ['|-|-|', '\\|-|-|'],
    [':-|-:', '\\:-|-:'],
    ['1. b', '1\\. b'],
    ['> b', '\\> b'],
  ] as const) {
    expect(lines('a | b', second)).toBe(`a | b  \n${safe}`);
  }
});

test('typed checkboxes are escaped, those of task items are not', () => {
  expect(toMarkdown(toMdast(node('bulletList', li('[x] a'))))).toBe('- \\[x] a');
  expect(toMarkdown(toMdast(node('taskList', nodeWith('taskItem', { checked: true }, p('[ ] a')))))).toBe(
    '- [x] \\[ ] a',
  );
});

test.each([
  ['See https://a.example/a_b?c=1&d=2.', 'See https://a.example/a_b?c=1&d=2.'],
  ['www.a.example/*b*', 'www\\.a.example/\\*b\\*'],
  ['https://a.example<b>', 'https\\://a.example\\<b>'],
  ['ftp://a.example?a&copy;', 'ftp\\://a.example?a\\&copy;'],
  ['https://a.example\\&!', 'https\\://a.example\\\\&!'],
])('the address in %s becomes no GitHub link that contains escapes', (content, markdown) => {
  expect(toParagraph(content)).toBe(markdown);
  expect(decode(markdown)).toBe(content);
});

test('toMarkdown writes additional blocks and no trailing line feed', () => {
  const title: RootContent = { type: 'heading', depth: 2, children: [{ type: 'text', value: 'Title #' }] };
  expect(toMarkdown([title, ...toMdast(doc(p('a'), node('bulletList', li('b'))))])).toBe(
    '## Title \\#\n\na\n\n- b',
  );
  expect(toMarkdown([])).toBe('');
});

test('2,000 hostile texts contain no markup after escaping', () => {
  const random = createRandom(7);
  for (let count = 0; count < 2000; count++) {
    const content = p(hostileText(random), ' ', hostileText(random));
    const markdown = toMarkdown(toMdast(content));
    expect(findMarkup(markdown)).toBeNull();
    expect(decode(markdown)).toBe(toPlainText(content));
  }
});

test('1,000 hostile trees keep their text in order in Markdown', () => {
  const random = createRandom(8);
  for (let count = 0; count < 1000; count++) {
    const tree = hostileTree(random);
    const text = decode(toMarkdown(toMdast(tree)).replace(/^(?: *[-*] )+/gm, ''));
    let from = 0;
    const lost = (toPlainText(tree).match(/[a-zß漢😀é7]/giu) ?? []).filter((letter) => {
      from = text.indexOf(letter, from) + 1;
      return from === 0;
    });
    expect(lost).toEqual([]);
  }
});

test('toMarkdown handles lists 32 deep and texts of 100,000 characters', () => {
  let deep = node('bulletList', li('core'));
  for (let level = 1; level < 32; level++) deep = node('bulletList', li('a', deep));
  expect(toMarkdown(toMdast(deep)).split('\n').at(-1)).toBe(`${'  '.repeat(31)}- core`);
  for (const piece of [' ', '*', '[', '&a', '1.', '\\', '<a', '_ ', '~', '\n', '|-']) {
    expect(() => toParagraph(`${piece.repeat(100_000 / piece.length)}x`)).not.toThrow();
  }
});

/** Decodes backslash escapes and the numeric references that the writer uses (CommonMark 2.4 and 2.5). */
function decode(markdown: string): string {
  return markdown.replace(/\\([!-/:-@[-`{-~])|&#x([0-9A-F]+);/g, (_, character, code) =>
    code === undefined ? character : String.fromCodePoint(Number.parseInt(code, 16)),
  );
}

/** The first possible markup after all escapes are removed, or null; `_` inside a word is not markup. */
function findMarkup(markdown: string): RegExpMatchArray | null {
  const open = markdown.replace(/\\[!-/:-@[-`{-~]|&#x[0-9A-F]+;/g, '·').replace(/_+/g, '_');
  const inline = /[*`~[]|(?<=^|[\s\p{P}\p{S}])_|_(?=$|[\s\p{P}\p{S}])|<[!/?A-Za-z]|&#?[A-Za-z0-9]+;|\\$/mu;
  const atStart = /^(?: {4}|\t| {0,3}(?:#|>|=|[-+](?:[ \t]|$)|--|\d+[.)](?:[ \t]|$)|\||:-|-[:|]))/m;
  return inline.exec(open) ?? atStart.exec(open);
}
