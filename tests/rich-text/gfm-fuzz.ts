/** Fuzzes the conversion to GitHub Flavored Markdown with random trees; the same seed gives the same trees. */
import { expect } from '@jest/globals';
import { toMarkdown } from '../../libs/markdown/markdown.ts';
import { toGfm } from '../../libs/rich-text/gfm.ts';
import type { Mark, RichText } from '../../libs/rich-text/tree.ts';
import { br, doc, link, node, nodeWith, p, text } from '../fixtures/generators/rich-text.ts';
import { outlineGfm, outlineTree } from './gfm-outline.ts';
import { createRandom, hostileText, hostileTree } from './hostile.ts';
import { dataUri, png } from './sample-images.ts';

type Random = ReturnType<typeof createRandom>;

/** Checks that a parser reads the structure and text of `count` random trees from their Markdown. */
export function checkRoundTrips(count: number, seed: number): void {
  const random = createRandom(seed);
  for (let at = 0; at < count; at += 1) {
    const tree = random.below(4) === 0 ? hostileTree(random) : createRichText(random);
    const blocks = toGfm(tree, { headingLevel: 1 + random.below(6) });
    const markdown = toMarkdown(blocks);
    // calls expect only on a difference, because thousands of calls would be slow
    const [actual, expected] = [outlineGfm(markdown), outlineTree(blocks)];
    if (JSON.stringify(actual) !== JSON.stringify(expected))
      expect({ at, markdown, actual }).toEqual({ at, markdown, actual: expected });
  }
}

/**
 * Creates a tree as an editor writes it, with every kind of node and mark, and hostile text. Cells contain lists
 * and other blocks only if `hasBlocksInCells`.
 */
export function createRichText(random: Random, { hasBlocksInCells = true } = {}): RichText {
  return doc(...some(random, 1, 4, () => createBlock(random, 3, hasBlocksInCells)));
}

const markNames: [string, ...string[]] = [
  ...(['bold', 'italic', 'strike', 'code'] as const),
  ...(['superscript', 'subscript', 'underline', 'bold', 'italic'] as const),
];
const targets: [string, ...string[]] = [
  'https://a.example/?a=*b*&c=<d>_|(e)',
  'mailto:<b>@a.example',
  'mailto:script',
  'https://a.example/',
  'javascript:alert(1)',
];

function createBlock(random: Random, depth: number, hasBlocksInCells: boolean): RichText {
  const inner = () => some(random, 0, 3, () => createBlock(random, depth - 1, hasBlocksInCells));
  const leaves = () => createLeaves(random);
  const flat: (() => RichText)[] = [
    () => p(...leaves()),
    () => p(...leaves()),
    () => nodeWith('heading', { level: 1 + random.below(6) }, ...leaves()),
    () => nodeWith('codeBlock', { language: random.pick(['ts', 'c++', '`', '', 'a b']) }, createCode(random)),
    () => ({ type: 'horizontalRule' }),
  ];
  const nested: (() => RichText)[] = [
    () => node('blockquote', ...inner()),
    () =>
      nodeWith('callout', { kind: random.pick(['danger', 'warning', 'caution', 'note', 'x']) }, ...inner()),
    () => node('bulletList', ...some(random, 1, 3, () => node('listItem', ...inner()))),
    () => {
      const start = random.pick([1, 1, 0, 7, 999_999_998, -1]);
      return nodeWith('orderedList', { start }, ...some(random, 1, 3, () => node('listItem', ...inner())));
    },
    () =>
      node(
        'taskList',
        ...some(random, 1, 3, () => nodeWith('taskItem', { checked: random.below(2) === 0 }, ...inner())),
      ),
    () => createTable(random, hasBlocksInCells ? inner : () => [p(...leaves())]),
  ];
  const builders = depth > 0 ? [...flat, ...nested] : flat;
  return (builders[random.below(builders.length)] ?? p)();
}

function createTable(random: Random, createContent: () => RichText[]): RichText {
  const hasHeader = random.below(2) === 0;
  const rows = some(random, 1, 3, () => 1).map((_, index) => {
    const cells = some(random, 1, 3, () => {
      const type = (hasHeader && index === 0) || random.below(6) === 0 ? 'tableHeader' : 'tableCell';
      const spans = { colspan: 1 + random.below(3), rowspan: 1 + random.below(2) };
      return nodeWith(
        type,
        spans,
        ...(random.below(3) === 0 ? createContent() : [p(...createLeaves(random))]),
      );
    });
    return node('tableRow', ...cells);
  });
  return node('table', ...rows);
}

/** Creates leaves; some have no text that Markdown could escape, so that marks meet letters. */
function createLeaves(random: Random): RichText[] {
  return some(random, 0, 6, () => {
    const choice = random.below(12);
    if (choice === 0) return { ...br, ...withMarks(random) };
    if (choice === 1) return createImage(random);
    const value = random.below(3) === 0 ? hostileText(random) : random.pick(words);
    return { ...text(value), ...withMarks(random) };
  });
}

const words: [string, ...string[]] = [
  ...(['a', 'b ', ' c', 'd e', '.', '(f)', ' ', '😀', '漢', '"g"', '_', '*', '`', '|', '\u00a0'] as const),
  ...(['https://a.example', 'www.a.example/_b', 'a_b@c.example', '1. ', '# ', '[!NOTE]\n', 'H2O'] as const),
];

function withMarks(random: Random): { marks?: Mark[] } {
  const marks: Mark[] = some(random, 0, 2, () => ({ type: random.pick(markNames) }));
  if (random.below(5) === 0) marks.push(link(random.pick(targets)));
  return marks.length === 0 ? {} : { marks };
}

function createImage(random: Random): RichText {
  const src = random.pick([
    dataUri('image/png', png(2, 1)),
    'https://a.example/(b).png',
    'javascript:alert(1)',
  ]);
  const attrs = {
    src,
    alt: random.pick(['', hostileText(random)]),
    title: random.pick(['', hostileText(random)]),
  };
  return { ...nodeWith('image', attrs), ...withMarks(random) };
}

function createCode(random: Random): string {
  const lines = some(random, 0, 4, () =>
    random.pick(['```', '````', '  a', '', '\tb', '~~~', hostileText(random)]),
  );
  return lines.join('\n');
}

function some<T>(random: Random, min: number, max: number, create: () => T): T[] {
  return Array.from({ length: min + random.below(max - min + 1) }, create);
}
