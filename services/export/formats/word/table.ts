/** Renders tables with spanning cells, repeated header rows and the column widths of the editor. */
import type { RichText } from '#libs/rich-text';
import { escapeXml } from '../opc/xml-text.ts';
import type { BodyWriter, Position, RenderBlocks } from './body-writer.ts';
import { createGrid, type GridCell } from './grid.ts';
import { renderParagraph } from './paragraph.ts';

/** Minimum column width in twips: a short word; if there are too many columns, a letter. */
const MIN_COLUMN_WIDTH = 360;
const ABSOLUTE_MIN_COLUMN_WIDTH = 120;

/** Renders a table and a thin paragraph, without which Word would join it with a following table. */
export function renderTable(
  writer: BodyWriter,
  node: RichText,
  position: Position,
  renderBlocks: RenderBlocks,
): string {
  const renderContent = (cell: RichText, cellPosition: Position) =>
    renderBlocks(writer, cell.content ?? [], cellPosition);
  const { rows, columns } = createGrid(node);
  const total = Math.max(position.width - position.left, columns * ABSOLUTE_MIN_COLUMN_WIDTH);
  const minWidth = Math.min(MIN_COLUMN_WIDTH, Math.floor(total / columns));
  const widths = getColumnWidths(rows, columns, total, minWidth);
  const margin = minWidth < MIN_COLUMN_WIDTH ? 20 : MARGIN;
  const grid = widths.map((width) => `<w:gridCol w:w="${width}"/>`).join('');
  const firstBodyRow = rows.findIndex((row) => !row.every(({ cell }) => cell.type === 'tableHeader'));
  const body = rows.map((row, index) => {
    const isHead = index < (firstBodyRow === -1 ? rows.length : firstBodyRow) && firstBodyRow !== 0;
    const properties = isHead ? '<w:trPr><w:cantSplit/><w:tblHeader/></w:trPr>' : '';
    return `<w:tr>${properties}${row.map((cell) => renderCell(cell, { widths, margin, renderContent })).join('')}</w:tr>`;
  });
  const style = writer.plan.tableStyle;
  const styleMarkup = style === null ? '' : `<w:tblStyle w:val="${escapeXml(style)}"/>`;
  const borders = style === null ? TABLE_BORDERS : '';
  return (
    `<w:tbl><w:tblPr>${styleMarkup}<w:tblW w:w="${total}" w:type="dxa"/><w:tblInd w:w="${position.left}" w:type="dxa"/>${borders}` +
    `<w:tblLayout w:type="fixed"/>${renderMargins(margin)}</w:tblPr><w:tblGrid>${grid}</w:tblGrid>${body.join('')}</w:tbl>${AFTER_TABLE}`
  );
}

function renderCell(
  { cell, column, span, merge }: GridCell,
  {
    widths,
    margin,
    renderContent,
  }: { widths: number[]; margin: number; renderContent(cell: RichText, position: Position): string },
): string {
  const width = widths.slice(column, column + span).reduce((sum, columnWidth) => sum + columnWidth, 0);
  const isHead = cell.type === 'tableHeader';
  const properties =
    `<w:tcW w:w="${width}" w:type="dxa"/>` +
    (span > 1 ? `<w:gridSpan w:val="${span}"/>` : '') +
    (merge === 'restart' ? '<w:vMerge w:val="restart"/>' : merge === 'continue' ? '<w:vMerge/>' : '') +
    (isHead ? '<w:shd w:val="clear" w:color="auto" w:fill="EDEDED"/>' : '');
  const cellPosition: Position = {
    base: 0,
    left: 0,
    width: Math.max(width - 2 * margin, 1),
    level: 0,
    context: isHead ? { cell: true, head: true } : { cell: true },
  };
  const inner = merge === 'continue' ? '' : renderContent(cell, cellPosition);
  return `<w:tc><w:tcPr>${properties}</w:tcPr>${inner || '<w:p/>'}</w:tc>`;
}

/** Returns column widths in twips from those of the cells in pixels; other columns get the mean width. */
function getColumnWidths(rows: GridCell[][], columns: number, total: number, minWidth: number): number[] {
  const pixelWidths: (number | undefined)[] = Array.from({ length: columns });
  const sized = rows.flat().filter(({ pixels }) => pixels !== undefined);
  // the width of a single-column cell is more exact than a share of a spanning cell
  for (const { column, span, pixels = 0 } of sized.toSorted((a, b) => a.span - b.span))
    for (let at = column; at < column + span; at += 1) pixelWidths[at] ??= pixels / span;
  const known = pixelWidths.filter((pixels) => pixels !== undefined);
  const mean = known.length === 0 ? 1 : known.reduce((sum, pixels) => sum + pixels, 0) / known.length;
  const shares = pixelWidths.map((pixels) => pixels ?? mean);
  const sum = shares.reduce((previous, share) => previous + share, 0);
  const rest = total - columns * minWidth;
  return shares.map((share) => minWidth + Math.floor((share / sum) * rest));
}

const renderBorder = (name: string) => `<w:${name} w:val="single" w:sz="4" w:space="0" w:color="A6A6A6"/>`;
/** The borders of a table without a style. */
export const TABLE_BORDERS = `<w:tblBorders>${['top', 'left', 'bottom', 'right', 'insideH', 'insideV'].map(renderBorder).join('')}</w:tblBorders>`;
/** Word's default left and right cell margin, in twips. */
const MARGIN = 108;
const renderMargins = (margin: number) =>
  `<w:tblCellMar><w:left w:w="${margin}" w:type="dxa"/><w:right w:w="${margin}" w:type="dxa"/></w:tblCellMar>`;
/** The thin paragraph after a table. */
export const AFTER_TABLE = renderParagraph(
  { spacing: 'w:before="0" w:after="0" w:line="160" w:lineRule="exact"' },
  '',
);
