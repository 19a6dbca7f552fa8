/** Bullet, ordered and task lists, with the template's bullets and numbers, as deep as Word can go. */
import type { RichText } from '#libs/rich-text';
import { escapeXml } from '../opc/xml-text.ts';
import { getParagraphProperties, type ParagraphProperties, renderBlocks, renderParagraph } from './blocks.ts';
import { addOrderedList, type BodyWriter, limitIndent, type Position } from './body-writer.ts';
import { renderRuns } from './runs.ts';

/** Word knows nine levels; what is deeper stays on the last. */
const MAX_LEVEL = 8;

/** Room for a box to tick, in twips. */
const CHECKBOX_WIDTH = 360;

/** A list; each ordered one counts from its own start. */
export function renderList(pen: BodyWriter, node: RichText, place: Position): string {
  const level = Math.min(place.level, MAX_LEVEL);
  const isOrdered = node.type === 'orderedList';
  const levels = isOrdered ? pen.plan.lists.numbers : pen.plan.lists.bullets;
  const { left, hanging } = levels[level] ?? { left: 360, hanging: 360 };
  const numId = isOrdered ? addOrderedList(pen, level, getStart(node)) : pen.plan.lists.bulletNumId;
  const style = isOrdered ? pen.plan.styles.number.id : pen.plan.styles.bullet.id;
  const inside = { ...place, left: limitIndent(place, place.base + left), level: place.level + 1 };
  const marked: ParagraphProperties = {
    left: inside.left,
    hanging: inside.left < place.base + left ? Math.min(hanging, inside.left) : hanging,
    style,
    numbering: `<w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="${numId}"/></w:numPr>`,
    ...(place.context.cell ? { spacing: 'w:before="40" w:after="40"' } : {}),
  };
  const box = Math.max(hanging, CHECKBOX_WIDTH);
  const checked: ParagraphProperties = {
    left: Math.max(inside.left, box),
    hanging: box,
    contextualSpacing: true,
  };
  return (node.content ?? [])
    .map((item) => {
      const isTask = item.type === 'taskItem';
      return renderListItem(pen, item, inside, isTask ? checked : marked, isTask ? renderCheckbox(item) : '');
    })
    .join('');
}

/** The first textblock carries the bullet; an item that opens with something else gets an empty line for it. */
function renderListItem(
  pen: BodyWriter,
  item: RichText,
  place: Position,
  form: ParagraphProperties,
  mark: string,
): string {
  const [first, ...rest] = item.content ?? [];
  const isText = first?.type === 'paragraph' || first?.type === 'heading';
  const text = isText ? renderRuns(pen, first.content ?? [], place) : '';
  const align = isText ? getParagraphProperties(pen, first, place).align : undefined;
  const others = isText || !first ? rest : [first, ...rest];
  return renderParagraph({ ...form, align }, mark + text) + renderBlocks(pen, others, place);
}

/** A box that can be ticked in Word (a content control of Office 2010 and later, [MS-DOCX] 2.6.1.4). */
function renderCheckbox(item: RichText): string {
  const isChecked = item.attrs?.checked === true;
  const font = 'MS Gothic';
  const form = `<w:rPr><w:rFonts w:ascii="${font}" w:eastAsia="${font}" w:hAnsi="${font}" w:hint="eastAsia"/></w:rPr>`;
  return (
    `<w:sdt><w:sdtPr><w14:checkbox xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml"><w14:checked w14:val="${isChecked ? 1 : 0}"/>` +
    `<w14:checkedState w14:val="2612" w14:font="${escapeXml(font)}"/><w14:uncheckedState w14:val="2610" w14:font="${escapeXml(font)}"/></w14:checkbox></w:sdtPr>` +
    `<w:sdtContent><w:r>${form}<w:t>${isChecked ? '☒' : '☐'}</w:t></w:r></w:sdtContent></w:sdt><w:r><w:tab/></w:r>`
  );
}

function getStart(node: RichText): number {
  const start = node.attrs?.start;
  return typeof start === 'number' && Number.isInteger(start) && start >= 0 && start <= 32_767 ? start : 1;
}
