/** Tests how boxes are distributed over pages. */
import { expect, test } from '@jest/globals';
import { type Box, createPageFlow } from './page-flow.ts';
import { countLines, measureText } from './text-width.ts';

const line = (lines: number, more: Partial<Box> = {}): Box => ({ lines, lineHeight: 1_000, ...more });
/** Places boxes, whose names are their positions, on pages of ten and a half lines. */
const place = (...boxes: Box[]) => {
  const flow = createPageFlow(10_500);
  for (const [at, box] of boxes.entries()) flow.add({ ...box, name: `${at}` });
  flow.end();
  return flow;
};
const getPages = (...boxes: Box[]) => [...place(...boxes).pages.values()];

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
  expect(getPages(line(4, { after: 1_000 }), line(4, { before: 2_000 }), line(1))).toEqual([1, 1, 2]);
  expect(getPages(line(4, { after: 1_000, style: 'bullet' }), line(5, { style: 'bullet' }), line(1))).toEqual(
    [1, 1, 1],
  );
});

test('a row on a new page stands below the repeated header', () => {
  const row = line(1, { isUnbreakable: true, headerHeight: 5_000 });
  expect(getPages(line(10), row, row, row, row, row, line(1))).toEqual([1, 2, 2, 2, 2, 2, 3]);
});

test('a heading that may fit in another program has a page break', () => {
  const heading = (before: number) => line(1, { keepNext: true, before });
  const near = [line(8), heading(400), line(1)];
  expect(getPages(...near)).toEqual([1, 2, 2]);
  expect([...place(...near).breaks]).toEqual(['1']);
  // half a line more or less leaves no doubt
  expect([...place(line(8), heading(100), line(1)).breaks]).toEqual([]);
  expect([...place(line(8), heading(900), line(1)).breaks]).toEqual([]);
  // the space above the heading remains after the break
  expect(getPages(...near, line(8), line(1))).toEqual([1, 2, 2, 2, 3]);
});

test('a heading at the end without a text has a page', () => {
  expect(getPages(line(10), line(1, { keepNext: true }))).toEqual([1, 2]);
});

test('headings with a text that do not fit on one page start a new page', () => {
  const heading = line(1, { keepNext: true });
  expect(getPages(line(2), heading, heading, line(10, { isUnbreakable: true }))).toEqual([1, 2, 2, 3]);
});

test('a row that is higher than a page continues on the next ones', () => {
  const row = { lines: 1, lineHeight: 24_000, isUnbreakable: true };
  expect(getPages(line(1), row, line(1))).toEqual([1, 1, 3]);
  expect(getPages(line(1), { ...row, headerHeight: 5_000 }, line(1))).toEqual([1, 1, 4]);
  // a heading stays with its first lines
  expect(getPages(line(9), line(1, { keepNext: true, before: 100 }), row)).toEqual([1, 2, 2]);
});

test('a paragraph of several pages continues on each', () => {
  expect(getPages(line(35), line(1))).toEqual([1, 4]);
});

test('text in Arial has the widths of the font', () => {
  expect([measureText('Wi'), measureText('Wi', true)]).toEqual([1_166, 1_222]);
  expect(['é', '漢', '🔑', '𠮷'].map((character) => measureText(character))).toEqual([
    556, 1_000, 1_000, 1_000,
  ]);
});

test('lines break at spaces and hyphens, and long words break', () => {
  const count = (text: string) => countLines([{ text }], 5 * 556);
  expect(['', 'aaaaa', 'aaa aaa', 'aaaa-aaaa', 'a'.repeat(11), 'a\na'].map(count)).toEqual([
    1, 1, 2, 2, 3, 2,
  ]);
});
