/** Renders the body of a document node by node, so that memory use stays constant. */
import { getDirection, toWellFormed } from '#libs/rich-text';
import type { ExportNode, WordDocument } from '../document.ts';
import { renderBlocks } from './blocks.ts';
import { type BodyWriter, limitIndent, type Position } from './body-writer.ts';
import { CONTENTS_DEPTH, type Contents, getBookmark, renderContents } from './contents.ts';
import { renderParagraph } from './paragraph.ts';
import { estimateHeading, getMaxPictureHeight } from './picture-height.ts';
import { renderTextRuns } from './runs.ts';

/** Generates the markup of the body in pieces. It ends in a paragraph, as a table cell requires. */
export function* renderBody(
  writer: BodyWriter,
  document: WordDocument,
  indentInches: number,
): Generator<string> {
  if (writer.plan.mode === 'styles') yield renderTitle(writer, document.title);
  if (document.nodes.length === 0 && writer.plan.mode !== 'styles') yield '<w:p/>';
  const contents = renderContents(writer, document);
  if (contents) yield contents.markup;
  const step = Math.round(indentInches * 1_440);
  yield* renderNodes(writer, document.nodes, 0, { above: 0, step, number: '', contents });
}

/**
 * `above` is the height of headings directly above, twips, `step` the indent of each level, twips, `number` that of the
 * parent. With contents, titles have bookmarks.
 */
type NodeOptions = { above: number; step: number; number: string; contents: Contents | undefined };

function* renderNodes(
  writer: BodyWriter,
  siblings: ExportNode[],
  depth: number,
  { above, step, number: parent, contents }: NodeOptions,
): Generator<string> {
  for (const [at, node] of siblings.entries()) {
    const number = parent === '' ? `${at + 1}` : `${parent}.${at + 1}`;
    const { width } = writer.plan.room;
    const left = limitIndent({ width, left: 0 }, depth * step);
    // a picture stays with the headings directly above it
    const headings = (at === 0 ? above : 0) + estimateHeading(node.title, width - left);
    const height = getMaxPictureHeight(writer.plan.room.height, headings);
    const { direction } = writer;
    const position: Position = { base: left, left, width, height, level: 0, direction, context: {} };
    // read once: each access parses the content again
    const { content } = node;
    const text = content ? renderBlocks(writer, toWellFormed(content).content ?? [], position) : '';
    yield renderHeading(writer, node, { left, number, contents }) + text;
    yield* renderNodes(writer, node.children, depth + 1, {
      ...{ above: text === '' ? headings : 0, step, number, contents },
    });
  }
}

function renderTitle({ plan, direction: around }: BodyWriter, title: string): string {
  const direction = getDirection(title) ?? around;
  return renderParagraph({ style: plan.styles.title.id, direction }, renderTextRuns(title, direction));
}

/** Renders a node's title; a numbered heading keeps the indent of its numbering. */
function renderHeading(
  writer: BodyWriter,
  node: ExportNode,
  { left, number, contents }: { left: number } & Pick<NodeOptions, 'number' | 'contents'>,
): string {
  const { heading1, heading2, heading3 } = writer.plan.styles;
  const style = node.node_type === 'section' ? heading1 : node.node_type === 'step' ? heading2 : heading3;
  const indent = style.isNumbered || left === 0 ? {} : { left: left + style.left };
  const direction = getDirection(node.title) ?? writer.direction;
  const title = renderTextRuns(node.title, direction);
  const properties = { style: style.id, keepNext: true, direction, ...indent };
  if (!contents || number.split('.').length > CONTENTS_DEPTH) return renderParagraph(properties, title);
  const bookmark = `<w:bookmarkStart w:id="${writer.bookmarks}" w:name="${getBookmark(number)}"/>${title}<w:bookmarkEnd w:id="${writer.bookmarks}"/>`;
  writer.bookmarks += 1;
  return renderParagraph({ ...properties, pageBreakBefore: contents.pageStarts.has(number) }, bookmark);
}
