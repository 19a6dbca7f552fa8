/** Tables: cells over columns and rows, header rows that are repeated on each page, widths as in the editor. */
import type { RichText } from '#libs/rich-text';
import { escapeXml } from '../opc/xml-text.ts';
import { renderBlocks, renderParagraph } from './blocks.ts';
import type { BodyWriter, Position } from './body-writer.ts';
import { createGrid, type GridCell } from './grid.ts';

/** A narrow column still shows a word, in twips; when there are too many for that, a letter. */
const MIN_COLUMN_WIDTH = 360;
const ABSOLUTE_MIN_COLUMN_WIDTH = 120;

/** The table and a thin paragraph after it, without which Word joins it with the next one. */
export function renderTable(pen: BodyWriter, node: RichText, place: Position): string {
  const { rows, columns } = createGrid(node);
  const total = Math.max(place.width - place.left, columns * ABSOLUTE_MIN_COLUMN_WIDTH);
  const narrow = Math.min(MIN_COLUMN_WIDTH, Math.floor(total / columns));
  const widths = getColumnWidths(rows, columns, total, narrow);
  const margin = narrow < MIN_COLUMN_WIDTH ? 20 : MARGIN;
  const grid = widths.map((width) => `<w:gridCol w:w="${width}"/>`).join('');
  const heads = rows.findIndex((row) => !row.every(({ cell }) => cell.type === 'tableHeader'));
  const body = rows.map((row, at) => {
    const isHead = at < (heads === -1 ? rows.length : heads) && heads !== 0;
    const properties = isHead ? '<w:trPr><w:cantSplit/><w:tblHeader/></w:trPr>' : '';
    return `<w:tr>${properties}${row.map((cell) => renderCell(pen, cell, widths, margin)).join('')}</w:tr>`;
  });
  const style = pen.plan.tableStyle;
  const look = style === null ? '' : `<w:tblStyle w:val="${escapeXml(style)}"/>`;
  const borders = style === null ? BORDERS : '';
  return (
    `<w:tbl><w:tblPr>${look}<w:tblW w:w="${total}" w:type="dxa"/><w:tblInd w:w="${place.left}" w:type="dxa"/>${borders}` +
    `<w:tblLayout w:type="fixed"/>${renderMargins(margin)}</w:tblPr><w:tblGrid>${grid}</w:tblGrid>${body.join('')}</w:tbl>${AFTER}`
  );
}

function renderCell(
  pen: BodyWriter,
  { cell, column, span, merge }: GridCell,
  widths: number[],
  margin: number,
): string {
  const width = widths.slice(column, column + span).reduce((sum, one) => sum + one, 0);
  const isHead = cell.type === 'tableHeader';
  const properties =
    `<w:tcW w:w="${width}" w:type="dxa"/>` +
    (span > 1 ? `<w:gridSpan w:val="${span}"/>` : '') +
    (merge === 'start' ? '<w:vMerge w:val="restart"/>' : merge === 'go on' ? '<w:vMerge/>' : '') +
    (isHead ? '<w:shd w:val="clear" w:color="auto" w:fill="EDEDED"/>' : '');
  const inside: Position = {
    base: 0,
    left: 0,
    width: Math.max(width - 2 * margin, 1),
    level: 0,
    context: isHead ? { cell: true, head: true } : { cell: true },
  };
  const inner = merge === 'go on' ? '' : renderBlocks(pen, cell.content ?? [], inside);
  return `<w:tc><w:tcPr>${properties}</w:tcPr>${inner || '<w:p/>'}</w:tc>`;
}

/** Column widths in twips as the cells ask for them in pixels; columns that do not ask are as wide as the mean. */
function getColumnWidths(rows: GridCell[][], columns: number, total: number, narrow: number): number[] {
  const asked: (number | undefined)[] = Array.from({ length: columns });
  const wanting = rows.flat().filter(({ pixels }) => pixels !== undefined);
  // what a cell over one column says is surer than a share of what a cell over several says
  for (const { column, span, pixels = 0 } of wanting.toSorted((one, other) => one.span - other.span))
    for (let at = column; at < column + span; at += 1) asked[at] ??= pixels / span;
  const known = asked.filter((pixels) => pixels !== undefined);
  const mean = known.length === 0 ? 1 : known.reduce((sum, pixels) => sum + pixels, 0) / known.length;
  const shares = asked.map((pixels) => pixels ?? mean);
  const sum = shares.reduce((one, other) => one + other, 0);
  const room = total - columns * narrow;
  return shares.map((share) => narrow + Math.floor((share / sum) * room));
}

const renderBorder = (name: string) => `<w:${name} w:val="single" w:sz="4" w:space="0" w:color="A6A6A6"/>`;
const BORDERS = `<w:tblBorders>${['top', 'left', 'bottom', 'right', 'insideH', 'insideV'].map(renderBorder).join('')}</w:tblBorders>`;
/** Word's own, left and right. */
const MARGIN = 108;
const renderMargins = (margin: number) =>
  `<w:tblCellMar><w:left w:w="${margin}" w:type="dxa"/><w:right w:w="${margin}" w:type="dxa"/></w:tblCellMar>`;
const AFTER = renderParagraph({ spacing: 'w:before="0" w:after="0" w:line="160" w:lineRule="exact"' }, '');
