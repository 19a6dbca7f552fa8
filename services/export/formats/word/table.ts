/** Renders tables with spanning cells and repeated header rows. No row is split, and the last two stay together. */
import { escapeXml } from '#libs/opc';
import { createGrid, type Direction, type GridCell, type RichText } from '#libs/rich-text';
import type { BodyWriter, Position, RenderBlocks } from './body-writer.ts';
import { keepRowWithNext, renderParagraph } from './paragraph.ts';
import { layOutTable } from './table-layout.ts';

/** Space that a picture in a cell leaves to header rows above it, twips. */
export const ROW_SPACE = 900;

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
  const table = layOutTable(rows, columns, {
    available: position.width - position.left,
    isBuiltIn: writer.plan.hasContents,
  });
  const { total, widths, margin } = table;
  const fontSize = table.fontSize ?? position.context.fontSize;
  const grid = widths.map((width) => `<w:gridCol w:w="${width}"/>`).join('');
  const firstBodyRow = rows.findIndex((row) => !row.every(({ cell }) => cell.type === 'tableHeader'));
  const body = rows.map((row, index) => {
    const isHead = index < (firstBodyRow === -1 ? rows.length : firstBodyRow) && firstBodyRow !== 0;
    const properties = `<w:trPr><w:cantSplit/>${isHead ? '<w:tblHeader/>' : ''}</w:trPr>`;
    const { height, direction } = position;
    const layout = { widths, margin, fontSize, height, direction, renderContent };
    const cells = row.map((cell) => renderCell(cell, layout)).join('');
    // LibreOffice can lose the rows after the first place where a table may split; a small table has no such place
    const isBeforeLast = index === rows.length - 2;
    return `<w:tr>${properties}${isBeforeLast ? keepRowWithNext(cells) : cells}</w:tr>`;
  });
  const style = writer.plan.tableStyle;
  const styleMarkup = style === null ? '' : `<w:tblStyle w:val="${escapeXml(style)}"/>`;
  const borders = style === null ? TABLE_BORDERS : '';
  return (
    `<w:tbl><w:tblPr>${styleMarkup}${renderTableDirection(position.direction)}<w:tblW w:w="${total}" w:type="dxa"/><w:tblInd w:w="${position.left}" w:type="dxa"/>${borders}` +
    `<w:tblLayout w:type="fixed"/>${renderMargins(margin)}</w:tblPr><w:tblGrid>${grid}</w:tblGrid>${body.join('')}</w:tbl>${AFTER_TABLE}`
  );
}

function renderCell(
  { cell, column, span, merge }: GridCell,
  {
    widths,
    margin,
    fontSize,
    height,
    direction,
    renderContent,
  }: {
    widths: number[];
    margin: number;
    fontSize: number | undefined;
    height: number;
    direction: Direction;
    renderContent(cell: RichText, position: Position): string;
  },
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
    width: width - 2 * margin,
    height: height - ROW_SPACE,
    level: 0,
    direction,
    context: { cell: true, head: isHead, fontSize },
  };
  const inner = merge === 'continue' ? '' : renderContent(cell, cellPosition);
  return `<w:tc><w:tcPr>${properties}</w:tcPr>${inner || '<w:p/>'}</w:tc>`;
}

/** Renders the property of a table whose first column is on the right. */
export const renderTableDirection = (direction: Direction) => (direction === 'rtl' ? '<w:bidiVisual/>' : '');

const renderBorder = (name: string) => `<w:${name} w:val="single" w:sz="4" w:space="0" w:color="A6A6A6"/>`;
/** The borders of a table without a style. */
export const TABLE_BORDERS = `<w:tblBorders>${['top', 'left', 'bottom', 'right', 'insideH', 'insideV'].map(renderBorder).join('')}</w:tblBorders>`;
const renderMargins = (margin: number) =>
  `<w:tblCellMar><w:left w:w="${margin}" w:type="dxa"/><w:right w:w="${margin}" w:type="dxa"/></w:tblCellMar>`;
/** The thin paragraph after a table. */
export const AFTER_TABLE = renderParagraph(
  { spacing: 'w:before="0" w:after="0" w:line="160" w:lineRule="exact"' },
  '',
);
