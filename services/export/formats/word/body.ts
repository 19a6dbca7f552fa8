/** Renders the body of a document node by node, so that memory use stays constant. */
import { toWellFormed } from '#libs/rich-text';
import type { ExportDocument, ExportNode } from '../document.ts';
import { renderBlocks } from './blocks.ts';
import { type BodyWriter, limitIndent, type Position } from './body-writer.ts';
import { renderParagraph } from './paragraph.ts';
import { renderTextRun } from './runs.ts';

/** Generates the markup of the body in pieces. It ends in a paragraph, as a table cell requires. */
export function* renderBody(
  writer: BodyWriter,
  document: ExportDocument,
  indentInches: number,
): Generator<string> {
  if (writer.plan.mode === 'styles')
    yield renderParagraph({ style: writer.plan.styles.title.id }, renderTextRun(document.title));
  if (document.nodes.length === 0 && writer.plan.mode !== 'styles') yield '<w:p/>';
  yield* renderNodes(writer, document.nodes, 0, Math.round(indentInches * 1_440));
}

function* renderNodes(
  writer: BodyWriter,
  siblings: ExportNode[],
  depth: number,
  step: number,
): Generator<string> {
  for (const node of siblings) {
    const edge: Position = { base: 0, left: 0, width: writer.plan.room.width, level: 0, context: {} };
    const left = limitIndent(edge, depth * step);
    const position = { ...edge, base: left, left };
    // read once: each access parses the content again
    const { content } = node;
    const text = content ? renderBlocks(writer, toWellFormed(content).content ?? [], position) : '';
    yield renderHeading(writer, node, left) + text;
    yield* renderNodes(writer, node.children, depth + 1, step);
  }
}

/** Renders a node's title; a numbered heading keeps the indent of its numbering. */
function renderHeading(writer: BodyWriter, node: ExportNode, left: number): string {
  const { heading1, heading2, heading3 } = writer.plan.styles;
  const style = node.node_type === 'section' ? heading1 : node.node_type === 'step' ? heading2 : heading3;
  const indent = style.isNumbered || left === 0 ? {} : { left: left + style.left };
  return renderParagraph({ style: style.id, ...indent }, renderTextRun(node.title));
}
