/** Renders tables as HTML, with what a style sheet needs to size, pin and scroll their columns. */
import { getInteger } from './attributes.ts';
import { type Attributes, element, type Html, joinHtml } from './markup.ts';
import { toPlainText } from './text.ts';
import type { RichText } from './tree.ts';

/** Cells with at most this many characters are on one line: numbers, units, codes. */
const maxShort = 12;

/** Cells with at least this many characters have a sentence, which needs a wide column. */
const minLong = 60;

/**
 * Words that are too long to be printed beside other columns, such as hashes and addresses. Scripts without cases
 * do not count: some of them have no spaces between words.
 */
const minLongWord = 31;
const longWord = new RegExp(`[^\\s\\p{Lo}]{${minLongWord}}`, 'u');

/**
 * Leading rows of only header cells become the `thead`, unless their cells cover rows below it; a header cell in a
 * later row is a row header. A table may be wider than the page, so its wrapper scrolls and can be focused by
 * keyboard; `label` is its name.
 */
export function tableHtml(node: RichText, label: string, renderCell: (cell: RichText) => Html): Html {
  const rows = node.content ?? [];
  const split = countHeaderRows(rows);
  const part = (name: string, scope: string, some: RichText[]): Html[] =>
    some.length === 0 ? [] : [element(name, {}, tableRows(some, scope, renderCell))];
  const parts = [...part('thead', 'col', rows.slice(0, split)), ...part('tbody', 'row', rows.slice(split))];
  const box = { class: 'table', tabindex: 0, role: 'group', 'aria-label': label };
  return element('div', box, element('table', {}, joinHtml(parts)));
}

/** Counts the rows of the `thead`, in which browsers end its cells. */
function countHeaderRows(rows: RichText[]): number {
  const body = rows.findIndex((row) => row.content?.some((cell) => cell.type !== 'tableHeader'));
  if (body === -1) return rows.length;
  let count = 0;
  // the first row that no cell above covers
  let end = 0;
  for (const [at, { content = [] }] of rows.slice(0, body).entries()) {
    for (const cell of content) end = Math.max(end, at + getRowSpan(cell));
    if (end <= at + 1) count = at + 1;
  }
  return count;
}

function getRowSpan(cell: RichText): number {
  return getInteger(cell, 'rowspan', 2, 1000) ?? 1;
}

function tableRows(rows: RichText[], scope: string, renderCell: (cell: RichText) => Html): Html {
  // the rows that a cell of the first column still covers
  let covered = 0;
  const html = rows.map((row) => {
    const [first] = row.content ?? [];
    const isContinued = covered > 0;
    covered = isContinued ? covered - 1 : first ? getRowSpan(first) - 1 : 0;
    const cells = (row.content ?? []).map((cell) => tableCell(cell, scope, renderCell));
    return element('tr', { class: isContinued ? 'continued' : undefined }, joinHtml(cells));
  });
  return joinHtml(html, '\n');
}

function tableCell(cell: RichText, scope: string, renderCell: (cell: RichText) => Html): Html {
  const isHeader = cell.type === 'tableHeader';
  const attributes: Attributes = {
    class: [getLength(cell), hasLongWord(cell) && 'long-word'].filter(Boolean).join(' ') || undefined,
    colspan: getInteger(cell, 'colspan', 2, 1000),
    rowspan: getInteger(cell, 'rowspan', 2, 1000),
    scope: isHeader ? scope : undefined,
  };
  return element(isHeader ? 'th' : 'td', attributes, renderCell(cell));
}

/** How long the text of a cell is; undefined for a few words. */
function getLength(cell: RichText): 'short' | 'long' | undefined {
  const count = countCharacters(cell, minLong);
  if (count >= minLong) return 'long';
  return count <= maxShort ? 'short' : undefined;
}

function hasLongWord(cell: RichText): boolean {
  return countCharacters(cell, minLongWord) >= minLongWord && longWord.test(toPlainText(cell));
}

/** The characters of the text in a node, counted up to a limit. */
function countCharacters({ text, content = [] }: RichText, limit: number): number {
  let count = text?.length ?? 0;
  for (const child of content) {
    if (count >= limit) return count;
    count += countCharacters(child, limit - count);
  }
  return count;
}
