/** Tests that text in narrow places has a width, without which its lines cannot be counted. */
import { beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { findFaults, type RichText, toWellFormed } from '#libs/rich-text';
import { doc, node, nodeWith, p } from '../../../../tests/fixtures/generators/rich-text.ts';
import { dataUri, png } from '../../../../tests/rich-text/sample-images.ts';
import { createDocument, createNode, renderParts } from '../../../../tests/word/samples.ts';
import { createDefaultTemplate } from '../default-template.ts';
import type { CompiledTemplate } from '../template.ts';
import { measureBlocks } from './box-sizes.ts';

let template: CompiledTemplate;
beforeAll(async () => {
  template = await createDefaultTemplate();
});

type Wrap = (inner: RichText) => RichText;

const src = dataUri('image/png', png(400, 300));
const row = (...cells: RichText[]) => node('tableRow', ...cells);
const quote: Wrap = (inner) => node('blockquote', inner);
const callout: Wrap = (inner) => node('callout', inner);
const list: Wrap = (inner) => node('bulletList', node('listItem', inner));
/** A table with the block in its first column; the widths are in pixels of the editor. */
const columns =
  (...widths: number[]): Wrap =>
  (inner) =>
    node(
      'table',
      row(...widths.map((width, at) => nodeWith('tableCell', { colwidth: [width] }, at === 0 ? inner : p()))),
    );
/** A table with the block in a cell over all of its columns. */
const spanned =
  (count: number): Wrap =>
  (inner) =>
    node(
      'table',
      row(...Array.from({ length: count }, () => node('tableCell', p()))),
      row(nodeWith('tableCell', { colspan: count }, inner)),
    );
/** A table with the blocks in two columns without widths. */
const beside =
  (first: RichText): Wrap =>
  (inner) =>
    node('table', row(node('tableCell', first), node('tableCell', inner)));
const wrapAll = (inner: RichText, wraps: readonly Wrap[]) =>
  wraps.reduceRight((all, wrap) => wrap(all), inner);
const quotes = (times: number) => Array.from({ length: times }, () => quote);

/** Measures a block in the text area of the built-in template. */
const measure = (block: RichText) => {
  const { width, height } = template.plan.room;
  return [...measureBlocks(toWellFormed(doc(block)).content ?? [], { left: 0, width, height })];
};
const getHeight = (block: RichText) =>
  measure(block).reduce((sum, { lines, lineHeight }) => sum + lines * lineHeight, 0);
const findUncountable = (block: RichText) =>
  measure(block).filter(
    ({ lines, lineHeight }) => ![lines, lineHeight].every((size) => 0 < size && size < 1e9),
  );
const render = async (block: RichText) =>
  (await renderParts(createDocument([createNode('Leaf', [block])]), template))['word/document.xml'] ?? '';

// each place is exactly as wide as the space around the text in it
test.each<[string, Wrap[]]>([
  ['a callout in a column of 536 twips', [columns(23, 300, 300), callout]],
  ['a list in a column of 576 twips', [columns(33, 400, 300), list]],
  ['a quote in a column of 576 twips', [columns(33, 400, 300), quote]],
  ['a callout over three columns in 25 quotes', [...quotes(25), spanned(3), callout]],
])('%s has lines and is exported', async (_place, wraps) => {
  const block = wrapAll(p('word'), wraps);
  expect(findFaults(doc(block))).toEqual([]);
  // checked first, because an export with infinitely many lines does not end
  expect(findUncountable(block)).toEqual([]);
  expect(await render(block)).toContain('word');
});

test('text in 28 quotes has as many lines as in 22, which leave an inch', () => {
  const text = p('The operator reads the gauge. '.repeat(40));
  const [atLimit, deeper] = [22, 28].map((times) => measure(wrapAll(text, quotes(times))));
  expect(atLimit?.[0]?.lines).toBeGreaterThan(50);
  expect(deeper).toEqual(atLimit);
});

test('all lines of any rich text are finite, and its export ends', async () => {
  const leaf = fc.constantFrom(
    ...['word', 'W'.repeat(300), 'long text '.repeat(200)].map((value) => p(value)),
  );
  const pixels = fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 10_000 }));
  const pictures = fc
    .double({ noNaN: true })
    .map((width) => p(nodeWith('image', { src, title: 'caption', width })));
  const wrap = fc.oneof(
    fc.integer({ min: 1, max: 25 }).map(quotes),
    fc.constantFrom(callout, list).map((single) => [single]),
    fc.array(pixels, { minLength: 1, maxLength: 12 }).map((widths) => [columns(...widths)]),
    fc.integer({ min: 1, max: 63 }).map((count) => [spanned(count)]),
    pictures.map((picture) => [beside(picture)]),
  );
  const tree = fc
    .tuple(leaf, fc.array(wrap, { maxLength: 6 }))
    .map(([inner, wraps]) => ({ inner, block: wrapAll(inner, wraps.flat()) }))
    .filter(({ block }) => findFaults(doc(block)).length === 0);
  await fc.assert(
    fc.asyncProperty(tree, async ({ inner, block }) => {
      expect(findUncountable(block)).toEqual([]);
      // text is not lower in a narrow place, except for the smaller letters of a table
      expect(getHeight(block)).toBeGreaterThan(0.4 * getHeight(inner));
      expect(await render(block)).not.toMatch(/NaN|Infinity/);
    }),
    { seed: 59, numRuns: 200 },
  );
});
