/** Renders the blocks of rich text as WordprocessingML. */
import { findDirection, type RichText } from '#libs/rich-text';
import { type BodyWriter, limitIndent, type Position } from './body-writer.ts';
import { renderCallout } from './callout.ts';
import { renderCaptions } from './caption.ts';
import { renderList } from './list.ts';
import { getParagraphProperties, getSizes, getStyleProperties, renderParagraph } from './paragraph.ts';
import { renderRuns } from './runs.ts';
import { renderTable } from './table.ts';

/** Maximum number of lines of a code block that Word keeps on one page. */
export const MAX_UNBROKEN_LINES = 20;

/** Additional indent of each quote, in twips. */
const QUOTE = 360;

/** Renders blocks that `wellFormed` returned: it has replaced unknown nodes by their text. */
export function renderBlocks(writer: BodyWriter, nodes: RichText[], position: Position): string {
  return nodes.map((node) => renderBlock(writer, node, position)).join('');
}

function renderBlock(writer: BodyWriter, node: RichText, around: Position): string {
  const position = { ...around, direction: findDirection(node) ?? around.direction };
  switch (node.type) {
    case 'heading':
      return renderHeading(writer, node, position);
    case 'codeBlock': {
      const inner = renderRuns(writer, node.content ?? [], { ...position, direction: 'ltr' }, true);
      const keepLines = inner.split('<w:br/>').length <= MAX_UNBROKEN_LINES;
      const captions = renderCaptions(writer, position);
      const style = getStyleProperties(writer.plan.styles.code, position);
      return renderParagraph({ ...style, keepLines, keepNext: captions !== '' }, inner) + captions;
    }
    case 'blockquote':
      return renderBlocks(writer, node.content ?? [], {
        ...position,
        base: limitIndent(position, position.base + QUOTE),
        left: limitIndent(position, position.left + QUOTE),
        context: { ...position.context, quote: true },
      });
    case 'callout':
      return renderCallout(writer, node, position, renderBlocks);
    case 'horizontalRule':
      return renderParagraph({ left: position.left, border: RULE }, '');
    case 'table':
      return renderTable(writer, node, position, renderBlocks);
    case 'bulletList':
    case 'orderedList':
    case 'taskList':
      return renderList(writer, node, position, renderBlocks);
    default: {
      const inner = renderRuns(writer, node.content ?? [], position);
      const properties = getParagraphProperties(writer, node, position);
      if (!inner.includes('<w:drawing>')) return renderParagraph(properties, inner);
      const captions = renderCaptions(writer, position, properties.align);
      const sizes = getSizes(position, inner);
      return renderParagraph({ ...properties, ...sizes, keepNext: captions !== '' }, inner) + captions;
    }
  }
}

/** Renders a heading inside the text as heading 4, 5 or 6, without a number. */
function renderHeading(writer: BodyWriter, node: RichText, position: Position): string {
  const value = node.attrs?.level;
  const level = typeof value === 'number' ? value : 1;
  const { heading4, heading5, heading6 } = writer.plan.styles;
  const style = level <= 1 ? heading4 : level === 2 ? heading5 : heading6;
  const numbering = style.isNumbered ? NO_NUMBER : '';
  const inner = renderRuns(writer, node.content ?? [], position);
  return (
    renderParagraph(
      {
        ...getStyleProperties(style, position),
        ...(inner.includes('<w:drawing>') ? getSizes(position, inner) : {}),
        markSize: position.context.fontSize,
        numbering,
        align: node.attrs?.textAlign,
        direction: position.direction,
      },
      inner,
    ) + renderCaptions(writer, position)
  );
}

const NO_NUMBER = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="0"/></w:numPr>';
const RULE = '<w:bottom w:val="single" w:sz="6" w:space="1" w:color="A6A6A6"/>';
