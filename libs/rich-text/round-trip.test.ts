/** Tests that a GitHub Markdown parser reads exactly the text and structure of the rich text. */
import { expect, test } from '@jest/globals';
import { br, doc, li, link, node, nodeWith, p, text } from '../../tests/fixtures/generators/rich-text.ts';
import { createRandom, hostileText, hostileTree } from '../../tests/rich-text/hostile.ts';
import { outlineBlocks, outlineMarkdown } from '../../tests/rich-text/markdown-outline.ts';
import { toMarkdown } from '../markdown/markdown.ts';
import { toMdast } from './mdast.ts';
import type { RichText } from './tree.ts';

/** The number of random trees. */
const count = 1_000;
const random = createRandom(11);
const hostile = () => hostileText(random);

/** Functions that build typical content with hostile text. */
const builders: [() => RichText, ...(() => RichText)[]] = [
  () => p(hostile(), text(hostile(), 'bold'), hostile()),
  () => p(hostile(), br, hostile(), br, hostile()),
  () => p(text(hostile(), link('https://a.example/?a=*b*&c=<d>_')), hostile()),
  () =>
    node(
      'bulletList',
      li(hostile(), node('orderedList', li(hostile()), li(hostile(), p(hostile())))),
      li(hostile()),
    ),
  () =>
    node(
      'taskList',
      task(true, p(hostile(), br, hostile())),
      task(false, p(hostile()), node('bulletList', li(hostile()))),
    ),
  () => node('table', row(hostile(), hostile()), row(hostile(), hostile())),
  () =>
    p(
      hostile(),
      '|',
      hostile(),
      br,
      random.pick(['-|-', '|-|-|', ':-: | -', '- | -:', '---', '===']),
      br,
      hostile(),
    ),
  () => node('codeBlock', `${hostile()}\n  ${hostile()}`),
  () => nodeWith('callout', { kind: 'danger' }, p(hostile()), node('bulletList', li(hostile()))),
  () => node('blockquote', nodeWith('heading', { level: 2 }, hostile()), p(hostile())),
];
const task = (checked: boolean, ...content: RichText[]) => nodeWith('taskItem', { checked }, ...content);
const row = (...cells: string[]) => node('tableRow', ...cells.map((cell) => node('tableCell', p(cell))));

function createRichText(): RichText {
  if (random.below(4) === 0) return hostileTree(random);
  return doc(...Array.from({ length: 1 + random.below(4) }, () => random.pick(builders)()));
}

test(`${count} random rich texts survive a round trip through Markdown`, () => {
  for (let at = 0; at < count; at += 1) {
    const blocks = toMdast(createRichText());
    const markdown = toMarkdown(blocks);
    // calls expect only on a difference, because thousands of calls would be slow
    const [actual, expected] = [outlineMarkdown(markdown), outlineBlocks(blocks)].map((outlines) =>
      JSON.stringify(outlines),
    );
    if (actual !== expected) expect({ markdown, actual }).toEqual({ markdown, actual: expected });
  }
});

test.each([
  ['*a*', '<emphasis>'],
  ['~~a~~', '<delete>'],
  ['<b>', '<html>'],
  ['[a](https://b.example)', '<link https://b.example>'],
  ['# a', '<heading>'],
  ['1. a', '<list>'],
  ['a | b\n--- | ---', '<table>'],
])('outlineMarkdown recognizes %s as markup', (markdown, expected) => {
  expect(outlineMarkdown(markdown)[0]).toBe(expected);
});
