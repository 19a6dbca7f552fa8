/** Tests that the content of cells beyond the last column is kept, in tables of any size. */
import { expect, test } from '@jest/globals';
import { createGrid } from './grid.ts';
import type { RichText } from './tree.ts';

const paragraph = (text: string): RichText => ({ type: 'paragraph', content: [{ type: 'text', text }] });
const createCell = (text: string, attrs?: Record<string, unknown>): RichText => ({
  type: 'tableCell',
  ...(attrs && { attrs }),
  content: [paragraph(text)],
});
const createRow = (content: RichText[]): RichText => ({ type: 'tableRow', content });
const getTexts = (cell: RichText | undefined) => cell?.content?.map(({ content }) => content?.[0]?.text);

/** Creates a grid, and returns how many elements of lists are read for it. */
function countReads(table: RichText) {
  const iterate = Array.prototype[Symbol.iterator];
  let count = 0;
  Array.prototype[Symbol.iterator] = function (this: unknown[]) {
    count += this.length;
    return iterate.call(this);
  };
  try {
    return { ...createGrid(table), reads: () => count };
  } finally {
    Array.prototype[Symbol.iterator] = iterate;
  }
}

test('a row of 3,000 cells keeps all texts, and each is moved once', () => {
  const texts = Array.from({ length: 3_000 }, (_cell, at) => `${at}`);
  const row = createRow(texts.map((text) => createCell(text)));
  const { rows, columns, reads } = countReads({ type: 'table', content: [row] });
  expect(columns).toBe(63);
  expect(getTexts(rows[0]?.at(-1)?.cell)).toEqual(texts.slice(62));
  expect(reads()).toBeLessThan(10 * 3_000);
  // the source stays as it is
  expect(row.content?.[62]?.content).toEqual([paragraph('62')]);
});

test('covered rows keep their texts in the last cell above, moved once', () => {
  const full = Array.from({ length: 63 }, (_cell, at) => createCell(`${at}`, { rowspan: 1_000 }));
  const late = Array.from({ length: 300 }, (_row, at) => {
    return createRow([createCell(`a${at}`), createCell(`b${at}`)]);
  });
  const { rows, reads } = countReads({ type: 'table', content: [createRow(full), ...late] });
  const texts = Array.from({ length: 300 }, (_row, at) => [`a${at}`, `b${at}`]);
  expect(getTexts(rows[0]?.at(-1)?.cell)).toEqual(['62', ...texts.flat()]);
  expect(reads()).toBeLessThan(3 * 300 * 63);
});
