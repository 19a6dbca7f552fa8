/**
 * Promises that readers of GitHub's dialect find in the Markdown what the rich text says, and nothing else.
 */
import { expect, test } from '@jest/globals';
import { br, doc, li, link, node, nodeWith, p, text } from './build.ts';
import { toMarkdown } from './markdown.ts';
import { toMdast } from './mdast.ts';
import { outlineBlocks, outlineMarkdown } from './round-trip.ts';
import { createRandom, hostileText, hostileTree } from './testing/hostile.ts';
import type { RichText } from './tree.ts';

/** Continuous integration has less time. */
const count = process.env.CI ? 1_000 : 5_000;
const random = createRandom(11);
const words = () => hostileText(random);

/** What people write, with hostile words in it. */
const written: [() => RichText, ...(() => RichText)[]] = [
  () => p(words(), text(words(), 'bold'), words()),
  () => p(words(), br, words(), br, words()),
  () => p(text(words(), link('https://a.example/?a=*b*&c=<d>_')), words()),
  () =>
    node('bulletList', li(words(), node('orderedList', li(words()), li(words(), p(words())))), li(words())),
  () =>
    node(
      'taskList',
      task(true, p(words(), br, words())),
      task(false, p(words()), node('bulletList', li(words()))),
    ),
  () => node('table', row(words(), words()), row(words(), words())),
  () =>
    p(
      words(),
      '|',
      words(),
      br,
      random.pick(['-|-', '|-|-|', ':-: | -', '- | -:', '---', '===']),
      br,
      words(),
    ),
  () => node('codeBlock', `${words()}\n  ${words()}`),
  () => node('blockquote', nodeWith('heading', { level: 2 }, words()), p(words())),
];
const task = (checked: boolean, ...content: RichText[]) => nodeWith('taskItem', { checked }, ...content);
const row = (...cells: string[]) => node('tableRow', ...cells.map((cell) => node('tableCell', p(cell))));

function richText(): RichText {
  if (random.below(4) === 0) return hostileTree(random);
  return doc(...Array.from({ length: 1 + random.below(4) }, () => random.pick(written)()));
}

test(`${count} random rich texts are read back as they were meant`, () => {
  for (let at = 0; at < count; at += 1) {
    const blocks = toMdast(richText());
    const markdown = toMarkdown(blocks);
    // a matcher for each of so many would take longer than reading
    const [found, wanted] = [outlineMarkdown(markdown), outlineBlocks(blocks)].map((forms) =>
      JSON.stringify(forms),
    );
    if (found !== wanted) expect({ markdown, found }).toEqual({ markdown, found: wanted });
  }
}, 120_000);

test.each([
  ['*a*', '<emphasis>'],
  ['~~a~~', '<delete>'],
  ['<b>', '<html>'],
  ['[a](https://b.example)', '<link https://b.example>'],
  ['# a', '<heading>'],
  ['1. a', '<list>'],
  ['a | b\n--- | ---', '<table>'],
])('the reader sees that %s is markup', (markdown, found) => {
  expect(outlineMarkdown(markdown)[0]).toBe(found);
});
