/** Tests how boxes are distributed over pages. */
import { expect, test } from '@jest/globals';
import { type Box, createPageFlow } from './page-flow.ts';
import { countLines, measureText } from './text-width.ts';

const line = (lines: number, more: Partial<Box> = {}): Box => ({
  lines,
  lineHeight: 100,
  isEntry: true,
  ...more,
});
/** Returns the page of each box on pages of ten lines. */
const getPages = (...boxes: Box[]) => {
  const flow = createPageFlow(1_000);
  for (const box of boxes) flow.add(box);
  return flow.entries;
};

test('a box that does not fit starts a new page', () => {
  expect(getPages(line(10), line(1))).toEqual([1, 2]);
  expect(getPages(line(9), line(1), line(1))).toEqual([1, 1, 2]);
});

test('a paragraph is split with two lines on each page', () => {
  expect(getPages(line(8), line(4), line(8), line(1))).toEqual([1, 1, 2, 3]);
  expect(getPages(line(9), line(4))).toEqual([1, 2]);
  expect(getPages(line(8), line(3))).toEqual([1, 2]);
});

test('an unbreakable box moves to the next page', () => {
  expect(getPages(line(4), line(8, { isUnbreakable: true }))).toEqual([1, 2]);
});

test('headings stay with the first lines of the text below', () => {
  const heading = line(1, { keepNext: true });
  expect(getPages(line(7), heading, heading, line(4))).toEqual([1, 2, 2, 2]);
  expect(getPages(line(6), heading, heading, line(4))).toEqual([1, 1, 1, 1]);
});

test('the larger space between two paragraphs counts', () => {
  expect(getPages(line(4, { after: 100 }), line(4, { before: 200 }), line(1))).toEqual([1, 1, 2]);
  expect(getPages(line(4, { after: 100, style: 'bullet' }), line(5, { style: 'bullet' }), line(1))).toEqual([
    1, 1, 1,
  ]);
});

test('a row on a new page stands below the repeated header', () => {
  const row = line(1, { isUnbreakable: true, headerHeight: 500 });
  expect(getPages(line(10), row, row, row, row, row, line(1))).toEqual([1, 2, 2, 2, 2, 2, 3]);
});

test('a paragraph of several pages continues on each', () => {
  expect(getPages(line(35), line(1))).toEqual([1, 4]);
});

test('text in Arial has the widths of the font', () => {
  expect([measureText('Wi'), measureText('Wi', true), measureText('é'), measureText('漢')]).toEqual([
    1_166, 1_222, 556, 1_000,
  ]);
});

test('lines break at spaces and hyphens, and long words break', () => {
  const count = (text: string) => countLines([{ text }], 5 * 556);
  expect(['', 'aaaaa', 'aaa aaa', 'aaaa-aaaa', 'a'.repeat(11), 'a\na'].map(count)).toEqual([
    1, 1, 2, 2, 3, 2,
  ]);
});
