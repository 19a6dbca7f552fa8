/** Converts tables to GitHub's: one header row, one line per row, and only inline content in a cell. */
import type { Html, PhrasingContent, Table, TableCell, Text } from 'mdast';
import { getInteger } from './attributes.ts';
import { getCallout } from './callout.ts';
import { toPhrasing } from './gfm-inline.ts';
import { createGrid, type GridCell } from './grid.ts';
import { maxListStart } from './list-start.ts';
import { toText } from './text.ts';
import type { RichText } from './tree.ts';

type Line = PhrasingContent[];

const lineBreak: Html = { type: 'html', value: '<br>' };
/** No-break spaces, because Markdown drops others at the start of a line. */
const indent = '\u00a0'.repeat(3);

/**
 * Converts a table. The first row is the header if all its cells are header cells, else the header is empty.
 * Header cells of other rows become bold. Columns that a joined cell covers are empty.
 */
export function toGfmTable(node: RichText): Table {
  const { rows, columns } = createGrid(node);
  const isHeader = node.content?.[0]?.content?.every((cell) => cell.type === 'tableHeader') === true;
  const children = rows.map((row, index) => ({
    type: 'tableRow' as const,
    children: row.flatMap((cell) => toCells(cell, isHeader && index === 0)),
  }));
  const empty = { type: 'tableRow' as const, children: Array.from({ length: columns }, () => tableCell([])) };
  return { type: 'table', children: isHeader ? children : [empty, ...children] };
}

function toCells({ cell, span }: GridCell, isHeaderRow: boolean): TableCell[] {
  const isBold = cell.type === 'tableHeader' && !isHeaderRow;
  const lines = toLines(isBold ? embolden(cell) : cell);
  const children = joinLines(lines, lineBreak).flatMap(replaceCode);
  return [tableCell(children), ...Array.from({ length: span - 1 }, () => tableCell([]))];
}

function tableCell(children: PhrasingContent[]): TableCell {
  return { type: 'tableCell', children };
}

/** Converts the blocks of a cell to lines. */
function toLines(parent: RichText): Line[] {
  return (parent.content ?? []).flatMap((node): Line[] => {
    switch (node.type) {
      case 'codeBlock':
        return toCodeLines(node);
      case 'bulletList':
      case 'taskList':
      case 'orderedList':
        return toListLines(node);
      case 'table':
        return createGrid(node).rows.map(toRowLine);
      case 'callout':
        return [
          [{ type: 'strong', children: [{ type: 'text', value: getCallout(node).signalWord }] }],
          ...toLines(node),
        ];
      case 'paragraph':
      case 'heading':
        return [toPhrasing(node.content ?? [], { lineBreak })];
      default:
        return toLines(node);
    }
  });
}

function toCodeLines(node: RichText): Line[] {
  const lines = (node.content ?? [])
    .map(toText)
    .join('')
    .split(/\r\n|\n|\r/);
  return lines.map((value) => (value.trim() === '' ? [] : [{ type: 'inlineCode', value: value.trimEnd() }]));
}

function toListLines(list: RichText): Line[] {
  const start = getInteger(list, 'start', 0, maxListStart) ?? 1;
  return (list.content ?? []).flatMap((item, index) => {
    const [first, ...more] = toLines(item).filter((line) => line.length > 0);
    const bullet = getBullet(list, item, start + index);
    const head = first ? [text(`${bullet} `), ...first] : [text(bullet)];
    return [head, ...more.map((line) => [text(indent), ...line])];
  });
}

function getBullet(list: RichText, item: RichText, number: number): string {
  if (item.type === 'taskItem') return item.attrs?.checked === true ? '☑' : '☐';
  return list.type === 'orderedList' ? `${number}.` : '•';
}

/** Joins the cells of a table within a cell in one line; empty cells are omitted. */
function toRowLine(row: GridCell[]): Line {
  const cells = row.map(({ cell }) => joinLines(toLines(cell), text(' ')));
  return joinLines(cells, text(' | '));
}

/** Joins the lines that are not empty. */
function joinLines(lines: Line[], separator: PhrasingContent): Line {
  const full = lines.filter((line) => line.length > 0);
  return full.flatMap((line, index) => (index === 0 ? line : [separator, ...line]));
}

function text(value: string): PhrasingContent {
  return { type: 'text', value };
}

/** Replaces code with a backslash before a pipe, which Markdown cannot write in a cell (GFM 4.10), by HTML tags. */
function replaceCode<T extends PhrasingContent>(node: T): (T | Html | Text)[] {
  if (node.type === 'inlineCode' && node.value.includes('\\|'))
    return [
      { type: 'html', value: '<code>' },
      { type: 'text', value: node.value },
      { type: 'html', value: '</code>' },
    ];
  return 'children' in node ? [{ ...node, children: node.children.flatMap(replaceCode) }] : [node];
}

function embolden(node: RichText): RichText {
  const content = node.content?.map(embolden);
  if (node.type === 'text') return { ...node, marks: [...(node.marks ?? []), { type: 'bold' }] };
  return content ? { ...node, content } : node;
}
