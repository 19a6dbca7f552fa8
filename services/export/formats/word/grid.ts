/** A table as a grid: which cell begins at which column, and where a cell above reaches down. */
import type { RichText } from '#libs/rich-text';

/**
 * `merge` says whether the cell reaches down from here ('start') or only fills what one above covers ('go on').
 * `pixels` is the width that the editor gave it, if it did.
 */
export type GridCell = {
  cell: RichText;
  column: number;
  span: number;
  merge?: 'start' | 'go on';
  pixels?: number | undefined;
};

/** Word's own limit. */
const MAX_COLUMNS = 63;

/** A cell above that covers a column in so many more rows. */
type RowSpan = { rows: number; above: GridCell };

/**
 * The rows of a table, each filling every column. Columns in which no cell begins do not count, as in a browser; what is
 * beyond 63 columns joins the last cell, so that no word is lost.
 */
export function createGrid(table: RichText): { rows: GridCell[][]; columns: number } {
  const sources = table.content ?? [];
  const down: (RowSpan | undefined)[] = [];
  return removeUnusedColumns(sources.map((row, at) => createRow(row, down, sources.length - at)));
}

/** One row; `down` is changed to what reaches into the next. */
function createRow(row: RichText, down: (RowSpan | undefined)[], rowsLeft: number): GridCell[] {
  const cells: GridCell[] = [];
  const waiting = [...(row.content ?? [])];
  let lastAbove: GridCell | undefined;
  let column = 0;
  while (waiting.length > 0 || down.some((reach, at) => at >= column && reach)) {
    const reach = down[column];
    if (reach) {
      const { cell, span } = reach.above;
      cells.push({ cell: { type: cell.type }, column, span, merge: 'go on' });
      reach.rows -= 1;
      if (reach.rows === 0) down[column] = undefined;
      lastAbove = reach.above;
      column += span;
      continue;
    }
    const cell = waiting.shift();
    if (column >= MAX_COLUMNS) {
      if (!cell) break;
      appendContent(cells.findLast(({ merge }) => merge !== 'go on') ?? lastAbove, cell);
      continue;
    }
    const span = limitSpan(cell ? getSpan(cell, 'colspan') : MAX_COLUMNS, column, down);
    const rows = cell ? Math.min(getSpan(cell, 'rowspan'), rowsLeft) - 1 : 0;
    const made: GridCell = { cell: cell ?? EMPTY, column, span, pixels: cell && getPixels(cell) };
    if (rows > 0) {
      made.merge = 'start';
      down[column] = { rows, above: made };
    }
    cells.push(made);
    column += span;
  }
  return cells;
}

/** A cell may not reach over columns that a cell above still covers, nor beyond the last column. */
function limitSpan(span: number, column: number, down: unknown[]): number {
  let fits = 1;
  while (fits < span && column + fits < MAX_COLUMNS && !down[column + fits]) fits += 1;
  return fits;
}

function appendContent(into: GridCell | undefined, cell: RichText): void {
  if (into) into.cell = { ...into.cell, content: [...(into.cell.content ?? []), ...(cell.content ?? [])] };
}

/** The same rows over the columns in which a cell begins; an empty cell fills what is missing at the end of a row. */
function removeUnusedColumns(rows: GridCell[][]): { rows: GridCell[][]; columns: number } {
  const begins = new Set(rows.flat().map(({ column }) => column));
  const place = new Map<number, number>();
  let columns = 0;
  for (let column = 0; column <= MAX_COLUMNS; column += 1) {
    place.set(column, columns);
    if (begins.has(column)) columns += 1;
  }
  const at = (column: number) => place.get(column) ?? columns;
  const full = rows.map((cells) => {
    const row = cells.map((cell) => {
      const column = at(cell.column);
      return { ...cell, column, span: at(cell.column + cell.span) - column };
    });
    const last = row.at(-1);
    const end = last ? last.column + last.span : 0;
    return end < columns ? [...row, { cell: EMPTY, column: end, span: columns - end }] : row;
  });
  return { rows: full, columns: Math.max(columns, 1) };
}

const EMPTY: RichText = { type: 'tableCell' };

function getSpan(cell: RichText, name: string): number {
  const span = cell.attrs?.[name];
  return typeof span === 'number' && Number.isInteger(span) && span > 1 ? Math.min(span, 1_000) : 1;
}

/** The width of all columns that the cell was drawn over; undefined when one of them has none. */
function getPixels(cell: RichText): number | undefined {
  const given: unknown = cell.attrs?.colwidth;
  if (!Array.isArray(given) || given.length === 0) return undefined;
  let sum = 0;
  for (const pixels of given) {
    if (typeof pixels !== 'number' || !(pixels >= 1 && pixels <= 10_000)) return undefined;
    sum += pixels;
  }
  return sum;
}
