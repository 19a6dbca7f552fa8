/** The blocks of rich text as WordprocessingML: each starts where its place says. */
import type { RichText } from '#libs/rich-text';
import { escapeXml } from '../opc/xml-text.ts';
import type { StyleInfo } from '../template/styles.ts';
import { type BodyWriter, limitIndent, type Position } from './body-writer.ts';
import { renderList } from './list.ts';
import { renderRuns } from './runs.ts';
import { renderTable } from './table.ts';

/** What a paragraph is beside its text; the order is the schema's (ECMA-376 part 1, 17.3.1.26, CT_PPr). */
export type ParagraphProperties = {
  style?: string;
  keepLines?: boolean;
  numbering?: string;
  border?: string;
  spacing?: string;
  left?: number;
  hanging?: number;
  contextualSpacing?: boolean;
  align?: unknown;
};

/** Code of up to so many lines stays on one page. */
const MAX_KEPT_LINES = 20;

/** The steps that a quote stands further in, in twips. */
const QUOTE = 360;

/** Blocks of a tree that `wellFormed` has made; unknown nodes are gone by then and have left their text. */
export function renderBlocks(pen: BodyWriter, nodes: RichText[], place: Position): string {
  return nodes.map((node) => renderBlock(pen, node, place)).join('');
}

function renderBlock(pen: BodyWriter, node: RichText, place: Position): string {
  switch (node.type) {
    case 'heading':
      return renderHeading(pen, node, place);
    case 'codeBlock': {
      const inner = renderRuns(pen, node.content ?? [], place, true);
      const keepLines = inner.split('<w:br/>').length <= MAX_KEPT_LINES;
      return renderParagraph({ ...getStyleProperties(pen.plan.styles.code, place), keepLines }, inner);
    }
    case 'blockquote':
      return renderBlocks(pen, node.content ?? [], {
        ...place,
        base: limitIndent(place, place.base + QUOTE),
        left: limitIndent(place, place.left + QUOTE),
        context: { ...place.context, quote: true },
      });
    case 'horizontalRule':
      return renderParagraph({ left: place.left, border: RULE }, '');
    case 'table':
      return renderTable(pen, node, place);
    case 'bulletList':
    case 'orderedList':
    case 'taskList':
      return renderList(pen, node, place);
    default: {
      const inner = renderRuns(pen, node.content ?? [], place);
      const form = getParagraphProperties(pen, node, place);
      return renderParagraph(inner.includes('<w:drawing>') ? { ...form, spacing: WHOLE_LINE } : form, inner);
    }
  }
}

/** How an ordinary paragraph looks where it stands. */
export function getParagraphProperties(
  pen: BodyWriter,
  node: RichText,
  place: Position,
): ParagraphProperties {
  const { quote, cell } = place.context;
  return {
    ...(quote ? getStyleProperties(pen.plan.styles.quote, place) : { left: place.left }),
    ...(cell ? { spacing: 'w:before="40" w:after="40"' } : {}),
    align: node.attrs?.textAlign,
  };
}

/** A paragraph with its text. */
export function renderParagraph(form: ParagraphProperties, inner: string): string {
  const {
    style,
    keepLines,
    numbering,
    border,
    spacing,
    left = 0,
    hanging = 0,
    contextualSpacing,
    align,
  } = form;
  const properties = [
    style && `<w:pStyle w:val="${escapeXml(style)}"/>`,
    keepLines && '<w:keepLines/>',
    numbering,
    border && `<w:pBdr>${border}</w:pBdr>`,
    spacing && `<w:spacing ${spacing}/>`,
    (left > 0 || hanging > 0) && `<w:ind w:left="${left}"${hanging > 0 ? ` w:hanging="${hanging}"` : ''}/>`,
    contextualSpacing && '<w:contextualSpacing/>',
    typeof align === 'string' && ALIGNMENTS.get(align),
  ]
    .filter(Boolean)
    .join('');
  return properties ? `<w:p><w:pPr>${properties}</w:pPr>${inner}</w:p>` : `<w:p>${inner}</w:p>`;
}

/** A heading inside the text is one of the template's deeper headings, and never numbered. */
function renderHeading(pen: BodyWriter, node: RichText, place: Position): string {
  const asked = node.attrs?.level;
  const level = typeof asked === 'number' ? asked : 1;
  const { heading4, heading5, heading6 } = pen.plan.styles;
  const fact = level <= 1 ? heading4 : level === 2 ? heading5 : heading6;
  const numbering = fact.isNumbered ? NO_NUMBER : '';
  return renderParagraph(
    { ...getStyleProperties(fact, place), numbering, align: node.attrs?.textAlign },
    renderRuns(pen, node.content ?? [], place),
  );
}

/** A style's own indent counts from where the block stands. */
function getStyleProperties(fact: StyleInfo, place: Position): ParagraphProperties {
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
