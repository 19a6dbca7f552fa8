/** Tests the estimated sizes of rich text in the built-in template. */
import { expect, test } from '@jest/globals';
import type { RichText } from '#libs/rich-text';
import { createParagraph } from '../../../../tests/word/samples.ts';
import { measureBlocks, measureTextBox } from './box-sizes.ts';

const place = { left: 0, width: 9_026, height: 13_958 };
const measure = (...nodes: RichText[]) => [...measureBlocks(nodes, place)];
const table = (...rows: RichText[][]): RichText => ({
  type: 'table',
  content: rows.map((content) => ({ type: 'tableRow', content })),
});
const cell = (content: RichText[], attrs = {}): RichText => ({ type: 'tableCell', attrs, content });
const lines = (count: number) => Array.from({ length: count }, (_, at) => createParagraph(`line ${at}`));

test('bold text takes more lines than regular text', () => {
  const title = 'Alarm bar checks integrity before before.';
  expect(measureTextBox(title, 9_026, 24).lines).toBe(1);
  expect(measureTextBox(title, 9_026, 24, { isBold: true }).lines).toBe(2);
});

test.each([
  [20, true],
  [21, false],
])('a code block of %i lines: stays on one page is %j', (count, isUnbreakable) => {
  const text = Array.from({ length: count }, (_, at) => `${at}`).join('\n');
  expect(measure({ type: 'codeBlock', content: [{ type: 'text', text }] })).toMatchObject([
    { lines: count, isUnbreakable },
  ]);
});

test('a cell over two rows makes only the last of them higher', () => {
  const heights = measure(table([cell(lines(5), { rowspan: 2 }), cell(lines(1))], [cell(lines(1))])).map(
    ({ lineHeight }) => lineHeight,
  );
  const [single = 0, five = 0] = [lines(1), lines(5)].map(
    (content) => measure(table([cell(content)]))[0]?.lineHeight ?? 0,
  );
  expect(heights[0]).toBeCloseTo(single);
  expect((heights[0] ?? 0) + (heights[1] ?? 0)).toBeCloseTo(five);
});

test('the estimate keeps the last two rows of a table together', () => {
  const rows = measure(table(...lines(4).map((line) => [cell([line])])));
  expect(rows.slice(0, 4).map(({ keepNext }) => keepNext)).toEqual([false, false, true, false]);
});

test('small letters make the rows of a wide table lower', () => {
  const words = (count: number) => Array.from({ length: count }, (_, at) => `Requalification${at}`);
  const [normal = 0, small = 0] = [5, 8].map(
    (count) => measure(table(words(count).map((word) => cell([createParagraph(word)]))))[0]?.lineHeight ?? 0,
  );
  expect(small).toBeLessThan(normal);
});
