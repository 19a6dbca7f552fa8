/** Reads the rows and cells of HTML tables. */
import type { Element } from 'hast';
import { type HastNode, isHastElement } from './hast-elements.ts';

/** A cell: the type of its rich-text node, how many columns and rows it covers, and its content. */
interface Cell {
  type: 'tableCell' | 'tableHeader';
  colspan: number;
  rowspan: number;
  children: HastNode[];
}

/** Returns the captions of a table and its rows, which have at least one cell. Loose content becomes cells. */
export function readTableRows(table: Element): { captions: Element[]; rows: Cell[][] } {
  const captions: Element[] = [];
  const groups: Cell[][][] = [[]];
  for (const child of table.children) {
    if (!isHastElement(child)) continue;
    if (child.tagName === 'caption') captions.push(child);
    else if (child.tagName === 'tr') groups.at(-1)?.push(readCells(child));
    else if (/^(thead|tbody|tfoot)$/.test(child.tagName))
      groups.push(child.children.filter(isHastElement).map(readCells), []);
  }
  const full = groups.filter((rows) => rows.length > 0);
  for (const rows of full.slice(0, -1)) endRowSpans(rows);
  return { captions, rows: removeEmptyRows(full.flat()) };
}

/** In a browser, no cell covers rows of the next group, such as `tbody` after `thead`. */
function endRowSpans(rows: readonly Cell[][]): void {
  for (const [at, cells] of rows.entries())
    for (const cell of cells) cell.rowspan = Math.min(cell.rowspan, rows.length - at);
}

/** Rich text has no rows without cells. The cells that cover such a row cover one row less. */
function removeEmptyRows(rows: Cell[][]): Cell[][] {
  const emptyBefore = [0];
  for (const cells of rows) emptyBefore.push((emptyBefore.at(-1) ?? 0) + (cells.length === 0 ? 1 : 0));
  for (const [at, cells] of rows.entries())
    for (const cell of cells) {
      const end = Math.min(at + cell.rowspan, rows.length);
      cell.rowspan -= (emptyBefore[end] ?? 0) - (emptyBefore[at] ?? 0);
    }
  return rows.filter((cells) => cells.length > 0);
}

function readCells(row: Element): Cell[] {
  return row.children.filter(isHastElement).map(({ tagName, properties, children }) => {
    const type = tagName === 'th' ? 'tableHeader' : 'tableCell';
    return { type, colspan: readSpan(properties.colSpan), rowspan: readSpan(properties.rowSpan), children };
  });
}

function readSpan(value: unknown): number {
  const span = Number(value);
  return Number.isInteger(span) && span > 1 && span <= 1_000 ? span : 1;
}
