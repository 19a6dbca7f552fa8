/** A table as a grid: which cell begins at which column, and where a cell above reaches down. */
import type { RichText } from '#libs/rich-text';

/** `merge` says whether the cell reaches down from here ('start') or only fills what one above covers ('go on'). */
export type GridCell = { cell: RichText; column: number; span: number; merge?: 'start' | 'go on' };

/** Word's own limit. */
const MOST_COLUMNS = 63;

/** The rows of a table, each filling every column; what is beyond 63 columns joins the last cell, so that no word is lost. */
export function gridOf(table: RichText): { rows: GridCell[][]; columns: number } {
  const down: ({ rows: number; cell: RichText; span: number } | undefined)[] = [];
  const sources = table.content ?? [];
  const rows = sources.map((row, index) => {
    const cells: GridCell[] = [];
    const waiting = [...(row.content ?? [])];
    let column = 0;
    while (waiting.length > 0 || down.some((reach, at) => at >= column && reach)) {
      const reach = down[column];
      if (reach) {
        cells.push({ cell: reach.cell, column, span: reach.span, merge: 'go on' });
        reach.rows -= 1;
        if (reach.rows === 0) down[column] = undefined;
        column += reach.span;
        continue;
      }
      const cell = waiting.shift();
      if (column >= MOST_COLUMNS) {
        if (!cell) break;
        join(cells, cell);
        continue;
      }
      const span = cell ? spanWithin(spanOf(cell, 'colspan'), column, down) : 1;
      const rest = Math.min(cell ? spanOf(cell, 'rowspan') : 1, sources.length - index) - 1;
      const shown: RichText = cell ?? { type: 'tableCell' };
      if (rest > 0) down[column] = { rows: rest, cell: { type: shown.type }, span };
      cells.push({ cell: shown, column, span, ...(rest > 0 ? { merge: 'start' as const } : {}) });
      column += span;
    }
    return cells;
  });
  const columns = Math.max(1, ...rows.map(endOf));
  return { rows: rows.map((cells) => filled(cells, columns)), columns };
}

/** A cell may not reach over columns that a cell above still covers, nor beyond the last column. */
function spanWithin(span: number, column: number, down: unknown[]): number {
  let fits = 1;
  while (fits < span && column + fits < MOST_COLUMNS && !down[column + fits]) fits += 1;
  return fits;
}

function join(cells: GridCell[], cell: RichText): void {
  const last = cells.findLast(({ merge }) => merge !== 'go on');
  if (last) last.cell = { ...last.cell, content: [...(last.cell.content ?? []), ...(cell.content ?? [])] };
}

function filled(cells: GridCell[], columns: number): GridCell[] {
  const end = endOf(cells);
  const missing = Array.from({ length: columns - end }, (_cell, at) => ({
    cell: { type: 'tableCell' },
    column: end + at,
    span: 1,
  }));
  return [...cells, ...missing];
}

function endOf(cells: GridCell[]): number {
  const last = cells.at(-1);
  return last ? last.column + last.span : 0;
}

function spanOf(cell: RichText, name: string): number {
  const span = cell.attrs?.[name];
  return typeof span === 'number' && Number.isInteger(span) && span > 1 ? Math.min(span, 1_000) : 1;
}
