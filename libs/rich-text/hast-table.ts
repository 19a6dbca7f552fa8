/** Reads the rows and cells of HTML tables. */
import type { Element } from 'hast';
import { type HastNode, isHastElement } from './hast-elements.ts';

/** A cell: the type and attributes of its rich-text node, and its content. */
interface Cell {
  type: 'tableCell' | 'tableHeader';
  attrs?: Record<string, number>;
  children: HastNode[];
}

/** Returns the captions of a table and its rows, which have at least one cell. Loose content becomes cells. */
export function readTableRows(table: Element): { captions: Element[]; rows: Cell[][] } {
  const captions: Element[] = [];
  const rows: Cell[][] = [];
  for (const child of table.children) {
    if (!isHastElement(child)) continue;
    if (child.tagName === 'caption') captions.push(child);
    else if (child.tagName === 'tr') rows.push(readCells(child));
    else if (/^(thead|tbody|tfoot)$/.test(child.tagName))
      for (const row of child.children) if (isHastElement(row)) rows.push(readCells(row));
  }
  return { captions, rows: rows.filter((cells) => cells.length > 0) };
}

function readCells(row: Element): Cell[] {
  return row.children.filter(isHastElement).map((cell) => {
    const attrs = { ...readSpan(cell, 'colspan', 'colSpan'), ...readSpan(cell, 'rowspan', 'rowSpan') };
    const type = cell.tagName === 'th' ? 'tableHeader' : 'tableCell';
    return { type, ...(Object.keys(attrs).length > 0 && { attrs }), children: cell.children };
  });
}

function readSpan(cell: Element, name: string, property: string): Record<string, number> {
  const span = Number(cell.properties[property]);
  return Number.isInteger(span) && span > 1 && span <= 1_000 ? { [name]: span } : {};
}
