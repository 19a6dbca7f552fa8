/** Tests tables: complete rows, requested widths, and cells that end in a paragraph. */
import { expect, test } from '@jest/globals';
import { createGrid } from '#libs/rich-text';
import {
  compile,
  createDocument,
  createNode,
  createParagraph,
  docx,
  getText,
  p,
  renderParts,
} from '../../../../tests/word/samples.ts';
import { createDefaultTemplate } from '../default-template.ts';
import { measureText } from './text-width.ts';

const cell = (text: string, attrs: object = {}, type = 'tableCell') => ({
  type,
  attrs: attrs as never,
  content: [createParagraph(text)],
});
const head = (text: string, attrs: object = {}) => cell(text, attrs, 'tableHeader');
const table = (...rows: object[][]) => ({
  type: 'table',
  content: rows.map((content) => ({ type: 'tableRow', content: content as never })),
});
const getShape = (node: object) =>
  createGrid(node as never).rows.map((row) =>
    row.map(({ column, span, merge }) => `${column}+${span}${merge ? ` ${merge}` : ''}`),
  );

test('every table row is filled despite spanning cells', () => {
  const grid = table(
    [cell('a', { rowspan: 2 }), cell('b', { colspan: 2 })],
    [cell('c'), cell('d')],
    [cell('e')],
  );
  expect(getShape(grid)).toEqual([
    ['0+1 restart', '1+2'],
    ['0+1 continue', '1+1', '2+1'],
    ['0+1', '1+2'],
  ]);
});

test('table columns in which no cell starts are removed', () => {
  const grid = createGrid(
    table([cell('a', { colspan: 99 })], [cell('b', { colspan: 2, colwidth: [100, 50] }), cell('c')]) as never,
  );
  expect(grid.columns).toBe(2);
  expect(grid.rows[1]?.map(({ pixels }) => pixels)).toEqual([150, undefined]);
});

test('a gap before a row span is one empty cell', () => {
  const grid = table([cell('a'), cell('b'), cell('c'), cell('d', { rowspan: 2 })], [cell('e')]);
  expect(getShape(grid)[1]).toEqual(['0+1', '1+2', '3+1 continue']);
});

test('a row span ends at the last row and moves later cells', () => {
  expect(
    getShape(table([cell('a'), cell('b', { rowspan: 9 })], [cell('c', { colspan: 2 }), cell('d')])),
  ).toEqual([
    ['0+1', '1+1 restart', '2+1'],
    ['0+1', '1+1 continue', '2+1'],
  ]);
});

test('a row of 65 cells becomes 63 cells without losing text', () => {
  const { rows, columns } = createGrid(
    table(Array.from({ length: 65 }, (_cell, at) => cell(`${at}`))) as never,
  );
  expect(columns).toBe(63);
  expect(rows[0]?.at(-1)?.cell.content).toEqual([
    createParagraph('62'),
    createParagraph('63'),
    createParagraph('64'),
  ]);
});

test('text in a completely covered row moves to the last cell above', () => {
  const full = Array.from({ length: 63 }, (_cell, at) => cell(`${at}`, { rowspan: 2 }));
  const { rows } = createGrid(table(full, [cell('late')]) as never);
  expect(rows[0]?.at(-1)?.cell.content).toEqual([createParagraph('62'), createParagraph('late')]);
});

async function render(node: object, template = docx(p('{{content}}'))) {
  const { 'word/document.xml': xml = '' } = await renderParts(
    createDocument([createNode('N', [node as never])]),
    await compile(template),
  );
  return xml;
}

test('table header rows are bold and repeat on each page', async () => {
  const xml = await render(table([head('h')], [cell('c')]));
  expect(xml.match(/<w:tblHeader\/>/g)).toHaveLength(1);
  expect(xml).toContain('<w:rPr><w:b/><w:bCs/></w:rPr><w:t xml:space="preserve">h');
  expect(xml).not.toContain('<w:b/><w:bCs/></w:rPr><w:t xml:space="preserve">c');
});

test('columns have the proportions of the editor and fill the page', async () => {
  const xml = await render(
    table([cell('a', { colwidth: [100] }), cell('b', { colwidth: [300] }), cell('c')]),
  );
  const widths = [...xml.matchAll(/<w:gridCol w:w="(\d+)"/g)].map(([, width]) => Number(width));
  expect(widths.reduce((sum, width) => sum + width, 0)).toBeGreaterThan(9_020);
  expect(widths[1]).toBeGreaterThan((widths[0] ?? 0) * 2);
});

test('40 table columns fit on the page', async () => {
  const xml = await render(table(Array.from({ length: 40 }, () => cell('x'))));
  const widths = [...xml.matchAll(/<w:gridCol w:w="(\d+)"/g)].map(([, width]) => Number(width));
  expect(widths).toHaveLength(40);
  expect(widths.reduce((sum, width) => sum + width, 0)).toBeLessThanOrEqual(9_026);
});

test('a list in a narrow cell keeps its bullets inside the cell', async () => {
  const list = { type: 'bulletList', content: [{ type: 'listItem', content: [createParagraph('b')] }] };
  const narrow = { type: 'tableCell', content: [list] };
  const xml = await render(table([narrow, ...Array.from({ length: 24 }, () => cell('x'))]));
  const [, left, hanging] = /<w:ind w:left="(\d+)" w:hanging="(\d+)"/.exec(xml) ?? [];
  expect(Number(hanging)).toBeGreaterThan(0);
  expect(Number(hanging)).toBeLessThanOrEqual(Number(left));
  expect(Number(left)).toBeLessThan(9_026 / 25);
});

test('each table cell ends in a paragraph, even after a nested table', async () => {
  const inner = { type: 'tableCell', content: [table([cell('in')])] };
  const xml = await render(table([cell('a'), { type: 'tableCell', content: [] }, inner]));
  expect(xml.match(/<\/w:tc>/g)).toHaveLength(4);
  expect(xml.match(/(<\/w:p>|<w:p\/>)<\/w:tc>/g)).toHaveLength(4);
  expect(getText(xml)).toContain('in');
});

test('two adjacent tables stay separate', async () => {
  const two = { type: 'blockquote', content: [table([cell('a')]), table([cell('b')])] };
  expect(await render(two)).toMatch(/<\/w:tbl><w:p>.*<w:tbl>/);
});

const getWidths = (xml: string) =>
  [...xml.matchAll(/<w:gridCol w:w="(\d+)"/g)].map(([, width]) => Number(width));

test('columns without widths are weighed by their content', async () => {
  const long =
    'Open the drain until no more air is heard at the silencer, and lock the valve with the red lock';
  const xml = await render(
    table([cell('No.'), cell(long), cell('100 bar')], [cell('1'), cell(long), cell('5 bar')]),
  );
  const [number = 0, what = 0, limit = 0] = getWidths(xml);
  expect(number).toBeLessThan(limit);
  // "100 bar" fits into one line, and the rest is for the long text
  expect(limit).toBeGreaterThan(900);
  expect(limit).toBeLessThan(1_500);
  expect(what).toBeGreaterThan(6_500);
});

test.each([1e308, -1e308, -5_000, 0])(
  'a picture of %d pixels has a column of the usual width',
  async (width) => {
    const getPictureWidths = async (attrs: object) =>
      getWidths(
        await render(table([{ ...cell(''), content: [{ type: 'image', attrs }] }, cell('some words')])),
      );
    const usual = await getPictureWidths({});
    expect(usual).toHaveLength(2);
    expect(await getPictureWidths({ width })).toEqual(usual);
  },
);

test('columns of short text share the width by their longest text', async () => {
  const [short = 0, long = 0] = getWidths(await render(table([cell('No.'), cell('Torque wrench')])));
  expect(long).toBeGreaterThan(short * 2);
  expect(short + long).toBeGreaterThan(9_020);
});

const words = (columns: number) => Array.from({ length: columns }, (_, at) => `Requalification${at}`);
const getFontSizes = (xml: string) => [
  ...new Set([...xml.matchAll(/<w:sz w:val="(\d+)"\/>/g)].map(([, size]) => Number(size) / 2)),
];

test.each([
  [5, []],
  [6, [8]],
  [8, [6.5]],
])('a table with %i columns of long words has letters of %j points', async (columns, sizes) => {
  const { 'word/document.xml': xml = '' } = await renderParts(
    createDocument([createNode('N', [table(words(columns).map((word) => cell(word)))])]),
    await createDefaultTemplate(),
  );
  expect(getFontSizes(xml.split('<w:tbl>').at(-1) ?? '')).toEqual(sizes);
  const letters = (sizes[0] ?? 10) * 0.02;
  for (const [at, width] of getWidths(xml).slice(-columns).entries())
    expect(width).toBeGreaterThanOrEqual(measureText(words(columns)[at] ?? '') * letters);
});

test('small letters reach every run, mark and nested table of a cell', async () => {
  const bold = { type: 'paragraph', content: [{ type: 'text', text: 'bold', marks: [{ type: 'bold' }] }] };
  const item = { type: 'listItem', content: [createParagraph('item')] };
  const list = { type: 'bulletList', content: [item] };
  const inner = { type: 'tableCell', content: [bold, list, table([cell('nested')])] };
  const xml = await render(table([...words(10).map((word) => cell(word)), inner]));
  const tableXml = xml.slice(xml.indexOf('<w:tbl>'), xml.lastIndexOf('</w:tbl>'));
  const runs = tableXml.match(/<w:r>.*?<w:t /g) ?? [];
  expect(runs).toHaveLength(13);
  for (const run of runs) expect(run).toContain('<w:sz w:val="13"/><w:szCs w:val="13"/>');
  const marks = tableXml.match(/<w:p><w:pPr>.*?<\/w:pPr>/g) ?? [];
  for (const mark of marks.filter((each) => !each.includes('w:lineRule="exact"')))
    expect(mark).toContain('<w:rPr><w:sz w:val="13"/>');
});

test('columns with widths of the editor keep their letters', async () => {
  const xml = await render(table(words(10).map((word) => cell(word, { colwidth: [60] }))));
  expect(getFontSizes(xml)).toEqual([]);
});

test('a column of sentences stays readable beside a column of long text', async () => {
  const sentence = 'Close the valve, wait for a minute, and write the value into the log of the shift.';
  const xml = await render(table([cell(sentence.slice(0, 40)), cell(sentence), cell(sentence.repeat(9))]));
  const [short = 0, middle = 0, long = 0] = getWidths(xml);
  // 5rem for a few words, 11rem for a sentence
  expect(short).toBeGreaterThan(1_200);
  expect(middle).toBeGreaterThan(2_640);
  expect(long).toBeGreaterThan(middle);
});

test('the last two rows of a table stay together', async () => {
  const list = { type: 'bulletList', content: [{ type: 'listItem', content: [createParagraph('k')] }] };
  const both = { type: 'tableCell', content: [createParagraph('b'), list] };
  const xml = await render(table([head('a')], [both, { type: 'tableCell', content: [] }], [cell('c')]));
  const rows = [...xml.matchAll(/<w:tr>.*?<\/w:tr>/g)].map(([row]) => [
    row.match(/<w:p[ />]/g)?.length,
    row.match(/<w:p><w:pPr>(<w:pStyle [^>]*>)?<w:keepNext\/>/g)?.length ?? 0,
  ]);
  expect(rows).toEqual([
    [2, 0],
    [3, 3],
    [2, 0],
  ]);
});

test('no row is split across pages, and leading header rows repeat', async () => {
  const xml = await render(table([head('a')], [cell('b')], [cell('c')]));
  expect(xml.match(/<w:trPr>.*?<\/w:trPr>/g)).toEqual([
    '<w:trPr><w:cantSplit/><w:tblHeader/></w:trPr>',
    '<w:trPr><w:cantSplit/></w:trPr>',
    '<w:trPr><w:cantSplit/></w:trPr>',
  ]);
});
