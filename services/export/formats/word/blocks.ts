/** The blocks of rich text as WordprocessingML: each starts where its place says. */
import type { RichText } from '#libs/rich-text';
import { escapeXml } from '../opc/xml-text.ts';
import type { StyleFact } from '../template/styles.ts';
import { type BodyWriter, inward, type Place } from './body-writer.ts';
import { list } from './list.ts';
import { runs } from './runs.ts';
import { table } from './table.ts';

/** What a paragraph is beside its text; the order is the schema's (ECMA-376 part 1, 17.3.1.26, CT_PPr). */
export type ParagraphForm = {
  style?: string;
  isWhole?: boolean;
  numbering?: string;
  border?: string;
  spacing?: string;
  left?: number;
  hanging?: number;
  isTight?: boolean;
  align?: unknown;
};

/** Code of up to so many lines stays on one page. */
const LINES_TOGETHER = 20;

/** The steps that a quote stands further in, in twips. */
const QUOTE = 360;

/** Blocks of a tree that `wellFormed` has made; unknown nodes are gone by then and have left their text. */
export function blocks(pen: BodyWriter, nodes: RichText[], place: Place): string {
  return nodes.map((node) => block(pen, node, place)).join('');
}

function block(pen: BodyWriter, node: RichText, place: Place): string {
  switch (node.type) {
    case 'heading':
      return innerHeading(pen, node, place);
    case 'codeBlock': {
      const inner = runs(pen, node.content ?? [], place, true);
      const isWhole = inner.split('<w:br/>').length <= LINES_TOGETHER;
      return paragraph({ ...formOf(pen.plan.styles.code, place), isWhole }, inner);
    }
    case 'blockquote':
      return blocks(pen, node.content ?? [], {
        ...place,
        base: inward(place, place.base + QUOTE),
        left: inward(place, place.left + QUOTE),
        looks: { ...place.looks, quote: true },
      });
    case 'horizontalRule':
      return paragraph({ left: place.left, border: RULE }, '');
    case 'table':
      return table(pen, node, place);
    case 'bulletList':
    case 'orderedList':
    case 'taskList':
      return list(pen, node, place);
    default: {
      const inner = runs(pen, node.content ?? [], place);
      const form = plainForm(pen, node, place);
      return paragraph(inner.includes('<w:drawing>') ? { ...form, spacing: WHOLE_LINE } : form, inner);
    }
  }
}

/** How an ordinary paragraph looks where it stands. */
export function plainForm(pen: BodyWriter, node: RichText, place: Place): ParagraphForm {
  const { quote, cell } = place.looks;
  return {
    ...(quote ? formOf(pen.plan.styles.quote, place) : { left: place.left }),
    ...(cell ? { spacing: 'w:before="40" w:after="40"' } : {}),
    align: node.attrs?.textAlign,
  };
}

/** A paragraph with its text. */
export function paragraph(form: ParagraphForm, inner: string): string {
  const { style, isWhole, numbering, border, spacing, left = 0, hanging = 0, isTight, align } = form;
  const properties = [
    style && `<w:pStyle w:val="${escapeXml(style)}"/>`,
    isWhole && '<w:keepLines/>',
    numbering,
    border && `<w:pBdr>${border}</w:pBdr>`,
    spacing && `<w:spacing ${spacing}/>`,
    (left > 0 || hanging > 0) && `<w:ind w:left="${left}"${hanging > 0 ? ` w:hanging="${hanging}"` : ''}/>`,
    isTight && '<w:contextualSpacing/>',
    typeof align === 'string' && ALIGNMENTS.get(align),
  ]
    .filter(Boolean)
    .join('');
  return properties ? `<w:p><w:pPr>${properties}</w:pPr>${inner}</w:p>` : `<w:p>${inner}</w:p>`;
}

/** A heading inside the text is one of the template's deeper headings, and never numbered. */
function innerHeading(pen: BodyWriter, node: RichText, place: Place): string {
  const asked = node.attrs?.level;
  const level = typeof asked === 'number' ? asked : 1;
  const { heading4, heading5, heading6 } = pen.plan.styles;
  const fact = level <= 1 ? heading4 : level === 2 ? heading5 : heading6;
  const numbering = fact.isNumbered ? NO_NUMBER : '';
  return paragraph(
    { ...formOf(fact, place), numbering, align: node.attrs?.textAlign },
    runs(pen, node.content ?? [], place),
  );
}

/** A style's own indent counts from where the block stands. */
function formOf(fact: StyleFact, place: Place): ParagraphForm {
  return { style: fact.id, left: place.left === 0 ? 0 : place.left + fact.left };
}

/** A template with a fixed line height would cut pictures off. */
const WHOLE_LINE = 'w:line="240" w:lineRule="auto"';
const NO_NUMBER = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="0"/></w:numPr>';
const RULE = '<w:bottom w:val="single" w:sz="6" w:space="1" w:color="A6A6A6"/>';
const ALIGNMENTS = new Map([
  ['left', '<w:jc w:val="left"/>'],
  ['center', '<w:jc w:val="center"/>'],
  ['right', '<w:jc w:val="right"/>'],
  ['justify', '<w:jc w:val="both"/>'],
]);
