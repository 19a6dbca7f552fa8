/** Renders callouts: safety messages and notes in a box, under a band with their symbol and signal word. */
import { type CalloutKind, getCallout, type RichText } from '#libs/rich-text';
import type { BodyWriter, Position, RenderBlocks } from './body-writer.ts';
import { CALLOUT_SYMBOLS } from './callout-symbols.ts';
import { renderParagraph } from './paragraph.ts';
import { renderSymbol } from './picture.ts';
import { renderTextRuns } from './runs.ts';
import { AFTER_TABLE, renderTableDirection } from './table.ts';

/** The border of a box: its style, its width in eighths of a point and its colour (ECMA-376 part 1, 17.3.4). */
type Frame = { style: 'double' | 'single' | 'dashed'; size: number; color: string };

/**
 * The safety colours of ANSI Z535 with a readable colour for the signal word. A copy in black and white keeps word,
 * symbol and frame: the frame is dark, and the heavier and denser the more severe the hazard is, as on the public page.
 */
const LOOKS: Record<CalloutKind, { fill: string; text: string; frame: Frame }> = {
  danger: { fill: 'B3121D', text: 'FFFFFF', frame: { style: 'double', size: 12, color: 'B3121D' } },
  warning: { fill: 'F28C28', text: '000000', frame: { style: 'single', size: 24, color: 'A85400' } },
  caution: { fill: 'F5C400', text: '000000', frame: { style: 'dashed', size: 18, color: '7A6200' } },
  note: { fill: '0B4F94', text: 'FFFFFF', frame: { style: 'single', size: 12, color: '0B4F94' } },
};

/** Returns the width of a callout's frame on one side, twips. A double line has three times the width of one. */
export function getFrameWidth(node: RichText): number {
  const { style, size } = LOOKS[getCallout(node).kind].frame;
  return (style === 'double' ? 3 * size : size) * 2.5;
}

/** The left and right margin of the box, twips. */
export const CALLOUT_MARGIN = 160;
/** Space that a picture leaves to the band and the frame, twips. */
export const CALLOUT_SPACE = 900;
const MIN_WIDTH = 480;

/** Returns the width of a callout's box in twips. In a narrow column, the box is wider than the column. */
export function getCalloutWidth({ width, left }: Pick<Position, 'width' | 'left'>): number {
  return Math.max(width - left, MIN_WIDTH);
}

/**
 * Renders a table of two rows. The band is a header row: it is never alone at the end of a page, and it is repeated if
 * the text is longer than a page.
 */
export function renderCallout(
  writer: BodyWriter,
  node: RichText,
  position: Position,
  renderBlocks: RenderBlocks,
): string {
  const { kind, signalWord } = getCallout(node);
  const { fill, text, frame } = LOOKS[kind];
  const symbol = CALLOUT_SYMBOLS[kind];
  const width = getCalloutWidth(position);
  const inner = renderBlocks(writer, node.content ?? [], {
    ...{
      base: 0,
      left: 0,
      width: width - 2 * CALLOUT_MARGIN,
      height: position.height - CALLOUT_SPACE,
      level: 0,
      direction: position.direction,
    },
    context: { cell: true },
  });
  const band = renderParagraph(
    { keepNext: true, spacing: 'w:before="30" w:after="30"', direction: position.direction },
    renderSymbol(writer, symbol.png, symbol) +
      renderTextRuns(`\u2002${signalWord}`, position.direction, `<w:b/><w:bCs/><w:color w:val="${text}"/>`),
  );
  const shading = `<w:shd w:val="clear" w:color="auto" w:fill="${fill}"/>`;
  const row = (properties: string, cellProperties: string, content: string) =>
    `<w:tr><w:trPr><w:cantSplit/>${properties}</w:trPr><w:tc><w:tcPr><w:tcW w:w="${width}" w:type="dxa"/>${cellProperties}</w:tcPr>${content}</w:tc></w:tr>`;
  const border = (side: string) =>
    `<w:${side} w:val="${frame.style}" w:sz="${frame.size}" w:space="0" w:color="${frame.color}"/>`;
  return (
    `<w:tbl><w:tblPr>${renderTableDirection(position.direction)}<w:tblW w:w="${width}" w:type="dxa"/><w:tblInd w:w="${position.left}" w:type="dxa"/>` +
    `<w:tblBorders>${['top', 'left', 'bottom', 'right'].map(border).join('')}</w:tblBorders><w:tblLayout w:type="fixed"/>` +
    `<w:tblCellMar><w:left w:w="${CALLOUT_MARGIN}" w:type="dxa"/><w:right w:w="${CALLOUT_MARGIN}" w:type="dxa"/></w:tblCellMar></w:tblPr>` +
    `<w:tblGrid><w:gridCol w:w="${width}"/></w:tblGrid>${row('<w:tblHeader/>', shading, band)}${row('', '', inner || '<w:p/>')}</w:tbl>${AFTER_TABLE}`
  );
}
