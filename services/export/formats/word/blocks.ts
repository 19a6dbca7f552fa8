/** Renders the blocks of rich text as WordprocessingML. */
import type { RichText } from '#libs/rich-text';
import { escapeXml } from '../opc/xml-text.ts';
import type { StyleInfo } from '../template/styles.ts';
import { type BodyWriter, limitIndent, type Position } from './body-writer.ts';
import { renderList } from './list.ts';
import { renderRuns } from './runs.ts';
import { renderTable } from './table.ts';

/** Properties of a paragraph in schema order (ECMA-376 part 1, 17.3.1.26, CT_PPr); indents in twips. */
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

/** Maximum number of lines of a code block that Word keeps on one page. */
const MAX_UNBROKEN_LINES = 20;

/** Additional indent of each quote, in twips. */
const QUOTE = 360;

/** Renders blocks that `wellFormed` returned: it has replaced unknown nodes by their text. */
export function renderBlocks(writer: BodyWriter, nodes: RichText[], position: Position): string {
  return nodes.map((node) => renderBlock(writer, node, position)).join('');
}

function renderBlock(writer: BodyWriter, node: RichText, position: Position): string {
  switch (node.type) {
    case 'heading':
      return renderHeading(writer, node, position);
    case 'codeBlock': {
      const inner = renderRuns(writer, node.content ?? [], position, true);
      const keepLines = inner.split('<w:br/>').length <= MAX_UNBROKEN_LINES;
      return renderParagraph({ ...getStyleProperties(writer.plan.styles.code, position), keepLines }, inner);
    }
    case 'blockquote':
      return renderBlocks(writer, node.content ?? [], {
        ...position,
        base: limitIndent(position, position.base + QUOTE),
        left: limitIndent(position, position.left + QUOTE),
        context: { ...position.context, quote: true },
      });
    case 'horizontalRule':
      return renderParagraph({ left: position.left, border: RULE }, '');
    case 'table':
      return renderTable(writer, node, position);
    case 'bulletList':
    case 'orderedList':
    case 'taskList':
      return renderList(writer, node, position);
    default: {
      const inner = renderRuns(writer, node.content ?? [], position);
      const properties = getParagraphProperties(writer, node, position);
      return renderParagraph(
        inner.includes('<w:drawing>') ? { ...properties, spacing: AUTO_LINE_HEIGHT } : properties,
        inner,
      );
    }
  }
}

/** Returns the properties of an ordinary paragraph at a position. */
export function getParagraphProperties(
  writer: BodyWriter,
  node: RichText,
  position: Position,
): ParagraphProperties {
  const { quote, cell } = position.context;
  return {
    ...(quote ? getStyleProperties(writer.plan.styles.quote, position) : { left: position.left }),
    ...(cell ? { spacing: 'w:before="40" w:after="40"' } : {}),
    align: node.attrs?.textAlign,
  };
}

/** Renders a paragraph; `inner` is the markup of its runs. */
export function renderParagraph(properties: ParagraphProperties, inner: string): string {
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
  } = properties;
  const markup = [
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
  return markup ? `<w:p><w:pPr>${markup}</w:pPr>${inner}</w:p>` : `<w:p>${inner}</w:p>`;
}

/** Renders a heading inside the text as heading 4, 5 or 6, without a number. */
function renderHeading(writer: BodyWriter, node: RichText, position: Position): string {
  const value = node.attrs?.level;
  const level = typeof value === 'number' ? value : 1;
  const { heading4, heading5, heading6 } = writer.plan.styles;
  const style = level <= 1 ? heading4 : level === 2 ? heading5 : heading6;
  const numbering = style.isNumbered ? NO_NUMBER : '';
  return renderParagraph(
    { ...getStyleProperties(style, position), numbering, align: node.attrs?.textAlign },
    renderRuns(writer, node.content ?? [], position),
  );
}

/** Adds a style's own indent to that of the position. */
function getStyleProperties(style: StyleInfo, position: Position): ParagraphProperties {
  return { style: style.id, left: position.left === 0 ? 0 : position.left + style.left };
}

/** Automatic line height, because a fixed height of the template would cut pictures off. */
const AUTO_LINE_HEIGHT = 'w:line="240" w:lineRule="auto"';
const NO_NUMBER = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="0"/></w:numPr>';
const RULE = '<w:bottom w:val="single" w:sz="6" w:space="1" w:color="A6A6A6"/>';
const ALIGNMENTS = new Map([
  ['left', '<w:jc w:val="left"/>'],
  ['center', '<w:jc w:val="center"/>'],
  ['right', '<w:jc w:val="right"/>'],
  ['justify', '<w:jc w:val="both"/>'],
]);
