/** The public interface of libs/rich-text: validation, traversal, plain text, safe HTML and blocks of Markdown. */
export {
  type AssetReference,
  findAssets,
  getAssetId,
  mayNameAssets,
  toAssetSource,
} from './asset.ts';
export { type CalloutKind, calloutKinds, getCallout } from './callout.ts';
export { colorNames, getColor } from './color.ts';
export {
  type Direction,
  findDirection,
  getDirection,
  getFirstDirection,
  splitByDirection,
  splitLeaves,
} from './direction.ts';
export { findFaults, maxRichTextBytes } from './faults.ts';
export { fromHast } from './from-hast.ts';
export { toGfm } from './gfm.ts';
export { createGrid, type GridCell } from './grid.ts';
export type { HastDrop } from './hast-element-kinds.ts';
export { createHastElement, type HastNode, hasClass, isHastElement, toHastText } from './hast-elements.ts';
export { type HtmlWords, toHtml } from './html.ts';
export type { FindPicture } from './html-inline.ts';
export { type Image, parseImage, parsePageImage, readImage } from './image.ts';
export { knownMarks } from './known-marks.ts';
export { knownNodes } from './known-nodes.ts';
export { type KnownAttribute, type KnownMark, type KnownNode, warningCodes } from './known-types.ts';
export { safeHref } from './link.ts';
export { maxListStart } from './list-start.ts';
export { type Attributes, element, escapeHtml, type Html, html, joinHtml, style } from './markup.ts';
export { toMdast } from './mdast.ts';
export { getDisplaySize, parsePixels } from './picture-size.ts';
export { toPlainText } from './text.ts';
export { type Mark, type RichText, walk } from './tree.ts';
export { findWarnings, type Warning } from './warnings.ts';
export { toWellFormed } from './well-formed.ts';
