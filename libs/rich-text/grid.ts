/** Lays a table out as a grid of columns, with cells that span columns and rows. */
import { getInteger } from './attributes.ts';
import type { RichText } from './tree.ts';

/**
 * A cell of the grid. `merge` is 'restart' for the first cell of a row span and 'continue' for the cells that
 * it covers, as in WordprocessingML. `pixels` is the width set in the editor, if any.
 */
export type GridCell = {
  cell: RichText;
  column: number;
  span: number;
  merge?: 'restart' | 'continue';
  pixels?: number | undefined;
};

/** Word's maximum number of columns. */
const maxColumns = 63;

/** A cell above, and the number of further rows that it covers. */
type RowSpan = { rows: number; above: GridCell };

/**
 * Creates the grid of a table; each row fills every column. As in a browser, columns in which no cell starts
 * are removed. The content of cells beyond 63 columns is appended to the last cell, so that no text is lost.
 */
export function createGrid(table: RichText): { rows: GridCell[][]; columns: number } {
  const sources = table.content ?? [];
  const rowSpans: (RowSpan | undefined)[] = [];
  const overflow = new Map<GridCell, RichText[]>();
  const rows = sources.map((row, index) => createRow(row, rowSpans, sources.length - index, overflow));
  for (const [into, content] of overflow)
    into.cell = { ...into.cell, content: [...(into.cell.content ?? []), ...content] };
  return removeUnusedColumns(rows);
}

/** Creates one row and updates `rowSpans` for the next row. `overflow` gets the content to append to other cells. */
function createRow(
  row: RichText,
  rowSpans: (RowSpan | undefined)[],
  rowsLeft: number,
  overflow: Map<GridCell, RichText[]>,
): GridCell[] {
  const cells: GridCell[] = [];
  const sources = row.content ?? [];
  let next = 0;
  let lastAbove: GridCell | undefined;
  let column = 0;
  while (next < sources.length || rowSpans.some((rowSpan, at) => at >= column && rowSpan)) {
    const rowSpan = rowSpans[column];
    if (rowSpan) {
      const { cell, span } = rowSpan.above;
      cells.push({ cell: { type: cell.type }, column, span, merge: 'continue' });
      rowSpan.rows -= 1;
      if (rowSpan.rows === 0) rowSpans[column] = undefined;
      lastAbove = rowSpan.above;
      column += span;
      continue;
    }
    if (column >= maxColumns) {
      const into = cells.findLast(({ merge }) => merge !== 'continue') ?? lastAbove;
      if (into) appendContents(overflow, into, sources.slice(next));
      break;
    }
    const cell = sources[next++];
    const span = limitSpan(cell ? getSpan(cell, 'colspan') : maxColumns, column, rowSpans);
    const rows = cell ? Math.min(getSpan(cell, 'rowspan'), rowsLeft) - 1 : 0;
    const gridCell: GridCell = { cell: cell ?? emptyCell, column, span, pixels: cell && getPixels(cell) };
    if (rows > 0) {
      gridCell.merge = 'restart';
      rowSpans[column] = { rows, above: gridCell };
    }
    cells.push(gridCell);
    column += span;
  }
  return cells;
}

/** Limits a span to the last column and to columns that no cell above covers. */
function limitSpan(span: number, column: number, rowSpans: unknown[]): number {
  let width = 1;
  while (width < span && column + width < maxColumns && !rowSpans[column + width]) width += 1;
  return width;
}

function appendContents(
  overflow: Map<GridCell, RichText[]>,
  into: GridCell,
  from: readonly RichText[],
): void {
  const content = overflow.get(into) ?? [];
  overflow.set(into, content);
  for (const cell of from) for (const child of cell.content ?? []) content.push(child);
}

/** Removes columns in which no cell starts, and fills short rows with an empty cell. */
function removeUnusedColumns(rows: GridCell[][]): { rows: GridCell[][]; columns: number } {
  const starts = new Set(rows.flat().map(({ column }) => column));
  const newColumns: number[] = [];
  let columns = 0;
  for (let column = 0; columns < starts.size; column += 1) {
    newColumns.push(columns);
    if (starts.has(column)) columns += 1;
  }
  const toNewColumn = (column: number) => newColumns[column] ?? columns;
  const full = rows.map((cells) => {
    const row = cells.map((cell) => {
      const column = toNewColumn(cell.column);
      return { ...cell, column, span: toNewColumn(cell.column + cell.span) - column };
    });
    const last = row.at(-1);
    const end = last ? last.column + last.span : 0;
    return end < columns ? [...row, { cell: emptyCell, column: end, span: columns - end }] : row;
  });
  return { rows: full, columns: Math.max(columns, 1) };
}

const emptyCell: RichText = { type: 'tableCell' };

function getSpan(cell: RichText, name: string): number {
  return Math.min(getInteger(cell, name, 2, Number.MAX_SAFE_INTEGER) ?? 1, 1_000);
}

/** Returns the width of all columns of the cell; undefined if the width of one is missing or invalid. */
function getPixels(cell: RichText): number | undefined {
  const widths: unknown = cell.attrs?.colwidth;
  if (!Array.isArray(widths) || widths.length === 0) return undefined;
  let sum = 0;
  for (const pixels of widths) {
    if (typeof pixels !== 'number' || !(pixels >= 1 && pixels <= 10_000)) return undefined;
    sum += pixels;
  }
  return sum;
}
