/** Renders bullet, ordered and task lists with the template's bullets and numbers. */
import { escapeXml } from '#libs/opc';
import { findDirection, maxListStart, type RichText } from '#libs/rich-text';
import { type BodyWriter, limitIndent, type Position, type RenderBlocks } from './body-writer.ts';
import { renderCaptions } from './caption.ts';
import { renderOrderedList } from './ordered-lists.ts';
import { getParagraphProperties, getSizes, type ParagraphProperties, renderParagraph } from './paragraph.ts';
import { renderRuns } from './runs.ts';

/** The last of Word's nine levels; deeper lists stay on it. */
const MAX_LEVEL = 8;

/** Minimum width of a checkbox, in twips. */
const CHECKBOX_WIDTH = 360;

/** Renders a list; each ordered list counts from its own start. */
export function renderList(
  writer: BodyWriter,
  node: RichText,
  position: Position,
  renderBlocks: RenderBlocks,
): string {
  const level = Math.min(position.level, MAX_LEVEL);
  const render = (numId: number) => renderItems(writer, node, position, { level, numId, renderBlocks });
  if (node.type !== 'orderedList') return render(writer.plan.lists.bulletNumId);
  return renderOrderedList(writer, { level, start: getStart(node) }, render);
}

function renderItems(
  writer: BodyWriter,
  node: RichText,
  position: Position,
  { level, numId, renderBlocks }: { level: number; numId: number; renderBlocks: RenderBlocks },
): string {
  const isOrdered = node.type === 'orderedList';
  const levels = isOrdered ? writer.plan.lists.numbers : writer.plan.lists.bullets;
  const { left, hanging } = levels[level] ?? { left: 360, hanging: 360 };
  const style = isOrdered ? writer.plan.styles.number.id : writer.plan.styles.bullet.id;
  const itemPosition = {
    ...position,
    left: limitIndent(position, position.base + left),
    level: position.level + 1,
  };
  const bulletProperties: ParagraphProperties = {
    left: itemPosition.left,
    hanging: itemPosition.left < position.base + left ? Math.min(hanging, itemPosition.left) : hanging,
    style,
    numbering: `<w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="${numId}"/></w:numPr>`,
  };
  const boxWidth = Math.max(hanging, CHECKBOX_WIDTH);
  const taskProperties: ParagraphProperties = {
    left: Math.max(itemPosition.left, boxWidth),
    hanging: boxWidth,
  };
  const items = node.content ?? [];
  return items
    .map((item, at) => {
      const isTask = item.type === 'taskItem';
      // tasks have the style of the text: without its space, the last one would touch the paragraph below
      const contextualSpacing = at < items.length - 1;
      const properties = isTask ? { ...taskProperties, contextualSpacing } : bulletProperties;
      const mark = isTask ? renderCheckbox(item) : '';
      const ownPosition = { ...itemPosition, direction: findDirection(item) ?? position.direction };
      const { firstParagraph, rest } = renderFirstParagraph(writer, item, ownPosition, properties, mark);
      return firstParagraph + renderBlocks(writer, rest, ownPosition);
    })
    .join('');
}

/**
 * Renders the paragraph of an item that carries the bullet: its first textblock, or else an empty paragraph.
 * Returns the paragraph and the other blocks of the item.
 */
function renderFirstParagraph(
  writer: BodyWriter,
  item: RichText,
  position: Position,
  properties: ParagraphProperties,
  mark: string,
): { firstParagraph: string; rest: RichText[] } {
  const [first, ...rest] = item.content ?? [];
  const isText = first?.type === 'paragraph' || first?.type === 'heading';
  const text = isText ? renderRuns(writer, first.content ?? [], position) : '';
  const align = isText ? getParagraphProperties(writer, first, position).align : undefined;
  const captions = renderCaptions(writer, position);
  const sizes = getSizes(position, text);
  const paragraph = renderParagraph(
    { ...properties, ...sizes, keepNext: captions !== '', align, direction: position.direction },
    mark + text,
  );
  return { firstParagraph: paragraph + captions, rest: isText || !first ? rest : [first, ...rest] };
}

/** Renders a clickable checkbox (a content control of Office 2010 and later, [MS-DOCX] 2.6.1.4). */
function renderCheckbox(item: RichText): string {
  const isChecked = item.attrs?.checked === true;
  const font = 'MS Gothic';
  const properties = `<w:rPr><w:rFonts w:ascii="${font}" w:eastAsia="${font}" w:hAnsi="${font}" w:hint="eastAsia"/></w:rPr>`;
  return (
    `<w:sdt><w:sdtPr><w14:checkbox xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml"><w14:checked w14:val="${isChecked ? 1 : 0}"/>` +
    `<w14:checkedState w14:val="2612" w14:font="${escapeXml(font)}"/><w14:uncheckedState w14:val="2610" w14:font="${escapeXml(font)}"/></w14:checkbox></w:sdtPr>` +
    `<w:sdtContent><w:r>${properties}<w:t>${isChecked ? '☒' : '☐'}</w:t></w:r></w:sdtContent></w:sdt><w:r><w:tab/></w:r>`
  );
}

function getStart(node: RichText): number {
  const start = node.attrs?.start;
  return typeof start === 'number' && Number.isInteger(start) && start >= 0 && start <= maxListStart
    ? start
    : 1;
}
