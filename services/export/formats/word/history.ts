/** Renders the revision history: a table of versions, the day of their publication and who published them. */
import { escapeXml } from '#libs/opc';
import { type Direction, getDirection } from '#libs/rich-text';
import type { PublishedVersion } from '../document.ts';
import type { TemplatePlan } from '../template/plan.ts';
import { keepRowWithNext, renderParagraph } from './paragraph.ts';
import { renderTextRuns } from './runs.ts';
import { AFTER_TABLE, renderTableDirection, TABLE_BORDERS } from './table.ts';

/** Maximum number of versions in a file; a line says how many earlier ones there are. */
const MAX_VERSIONS = 200;
/** Relative column widths. The table fills its place, which may be a cell or a header of unknown width. */
const COLUMNS = [2_200, 2_200, 4_600];

/** Renders the table, the newest version first, and the thin paragraph after it. */
export function renderHistory(
  plan: TemplatePlan,
  history: readonly PublishedVersion[],
  direction: Direction,
): string {
  const shown = history.slice(-MAX_VERSIONS).reverse();
  const renderRow = (texts: string[], isHead = false) => renderTexts(texts, { isHead, direction });
  const rows = [renderRow(['Version', 'Published', 'Published by'], true)];
  for (const { version, published_at, published_by } of shown)
    rows.push(renderRow([version ?? '–', published_at.slice(0, 10), published_by || '–']));
  if (history.length === 0) rows.push(renderRow(['–', 'not published yet', '–']));
  const earlier = history.length - shown.length;
  if (earlier > 0) rows.push(renderRow(['…', `${earlier} earlier versions`, '']));
  // as in a table of the text
  const joined = rows.map((row, at) => (at === rows.length - 2 ? keepRowWithNext(row) : row));
  const style = plan.tableStyle === null ? '' : `<w:tblStyle w:val="${escapeXml(plan.tableStyle)}"/>`;
  const grid = COLUMNS.map((width) => `<w:gridCol w:w="${width}"/>`).join('');
  return (
    `<w:tbl><w:tblPr>${style}${renderTableDirection(direction)}<w:tblW w:w="5000" w:type="pct"/>${plan.tableStyle === null ? TABLE_BORDERS : ''}</w:tblPr>` +
    `<w:tblGrid>${grid}</w:tblGrid>${joined.join('')}</w:tbl>${AFTER_TABLE}`
  );
}

function renderTexts(
  texts: string[],
  { isHead, direction: around }: { isHead: boolean; direction: Direction },
): string {
  const cells = texts.map((text, column) => {
    const shading = isHead ? '<w:shd w:val="clear" w:color="auto" w:fill="EDEDED"/>' : '';
    // the titles of the columns are English in every document
    const direction = isHead ? around : (getDirection(text) ?? around);
    const runs = renderTextRuns(text, direction, isHead ? '<w:b/><w:bCs/>' : '');
    const paragraph = renderParagraph({ spacing: 'w:before="40" w:after="40"', direction }, runs);
    return `<w:tc><w:tcPr><w:tcW w:w="${COLUMNS[column]}" w:type="dxa"/>${shading}</w:tcPr>${paragraph}</w:tc>`;
  });
  return `<w:tr><w:trPr><w:cantSplit/>${isHead ? '<w:tblHeader/>' : ''}</w:trPr>${cells.join('')}</w:tr>`;
}
