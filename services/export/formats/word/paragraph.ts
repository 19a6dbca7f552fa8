/** Renders a paragraph of WordprocessingML with its properties. */
import { escapeXml } from '#libs/opc';
import type { Direction, RichText } from '#libs/rich-text';
import type { StyleInfo } from '../template/style-definitions.ts';
import type { BodyWriter, Position } from './body-writer.ts';
import { RTL } from './direction.ts';
import { renderFontSize } from './runs.ts';

/** Properties of a paragraph in schema order (ECMA-376 part 1, 17.3.1.26, CT_PPr); indents in twips. */
export type ParagraphProperties = {
  style?: string;
  keepNext?: boolean;
  keepLines?: boolean;
  pageBreakBefore?: boolean;
  numbering?: string;
  border?: string;
  direction?: Direction;
  spacing?: string;
  left?: number;
  hanging?: number;
  contextualSpacing?: boolean;
  align?: unknown;
  /** The font size of the paragraph mark in points; without it, the mark would keep the line high. */
  markSize?: number | undefined;
};

/** Renders a paragraph; `inner` is the markup of its runs. */
export function renderParagraph(properties: ParagraphProperties, inner: string): string {
  const {
    style,
    keepNext,
    keepLines,
    pageBreakBefore,
    numbering = '',
    border,
    direction = 'ltr',
    spacing,
    left = 0,
    hanging = 0,
    contextualSpacing,
    align,
    markSize,
  } = properties;
  const isRtl = direction === 'rtl';
  const mark = (markSize === undefined ? '' : renderFontSize(markSize)) + (isRtl ? RTL : '');
  const markup =
    (style ? `<w:pStyle w:val="${escapeXml(style)}"/>` : '') +
    (keepNext ? '<w:keepNext/>' : '') +
    (keepLines ? '<w:keepLines/>' : '') +
    (pageBreakBefore ? '<w:pageBreakBefore/>' : '') +
    numbering +
    (border ? `<w:pBdr>${border}</w:pBdr>` : '') +
    (isRtl ? '<w:bidi/>' : '') +
    (spacing ? `<w:spacing ${spacing}/>` : '') +
    (left > 0 || hanging > 0
      ? `<w:ind w:left="${left}"${hanging > 0 ? ` w:hanging="${hanging}"` : ''}/>`
      : '') +
    (contextualSpacing ? '<w:contextualSpacing/>' : '') +
    renderAlignment(align, isRtl) +
    (mark && `<w:rPr>${mark}</w:rPr>`);
  return markup ? `<w:p><w:pPr>${markup}</w:pPr>${inner}</w:p>` : `<w:p>${inner}</w:p>`;
}

/** Keeps the paragraphs of a table row with the next row; `markup` is that of its cells. */
export function keepRowWithNext(markup: string): string {
  return markup
    .replaceAll('<w:p/>', '<w:p></w:p>')
    .replace(/<w:p>(?!<w:pPr>)/g, '<w:p><w:pPr></w:pPr>')
    .replace(/(<w:p><w:pPr>(?:<w:pStyle [^>]*>)?)(?!<w:pStyle|<w:keepNext)/g, '$1<w:keepNext/>');
}

/** Returns the properties of an ordinary paragraph at a position. */
export function getParagraphProperties(
  writer: BodyWriter,
  node: RichText,
  position: Position,
): ParagraphProperties {
  const { quote } = position.context;
  return {
    ...(quote ? getStyleProperties(writer.plan.styles.quote, position) : { left: position.left }),
    ...getSizes(position),
    align: node.attrs?.textAlign,
    direction: position.direction,
  };
}

/** Returns the sizes of a paragraph that differ from its style: in a cell, and around pictures in `inner`. */
export function getSizes(
  { context }: Position,
  inner = '',
): Pick<ParagraphProperties, 'spacing' | 'markSize'> {
  const cell = context.cell ? CELL_SPACING : '';
  const picture = inner.includes('<w:drawing>') ? AUTO_LINE_HEIGHT : '';
  const spacing = cell && picture ? `${cell} ${picture}` : cell + picture;
  return { spacing, markSize: context.fontSize };
}

const CELL_SPACING = 'w:before="40" w:after="40"';
/** Automatic line height, because a fixed height of the template would cut pictures off. */
const AUTO_LINE_HEIGHT = 'w:line="240" w:lineRule="auto"';

/** Adds a style's own indent to that of the position. */
export function getStyleProperties(style: StyleInfo, position: Position): ParagraphProperties {
  return { style: style.id, left: position.left === 0 ? 0 : position.left + style.left };
}

/**
 * Renders an alignment. Rich text means the side of the page; Word's `left` is the edge where the lines of
 * a paragraph begin (ECMA-376 part 1, 17.3.1.13), which is the right one if they read from right to left.
 */
function renderAlignment(align: unknown, isRtl: boolean): string {
  const value = typeof align === 'string' ? ALIGNMENTS.get(align) : undefined;
  if (value === undefined) return '';
  return `<w:jc w:val="${(isRtl && OPPOSITES.get(value)) || value}"/>`;
}

const ALIGNMENTS = new Map([
  ['left', 'left'],
  ['center', 'center'],
  ['right', 'right'],
  ['justify', 'both'],
]);
const OPPOSITES = new Map([
  ['left', 'right'],
  ['right', 'left'],
]);
