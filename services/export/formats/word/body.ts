/** The body of the document: each node's heading and text, a node at a time, so that memory stays flat. */
import { wellFormed } from '#libs/rich-text';
import type { ExportDocument, ExportNode } from '../document.ts';
import { renderBlocks, renderParagraph } from './blocks.ts';
import { type BodyWriter, limitIndent, type Position } from './body-writer.ts';
import { renderTextRun } from './runs.ts';

/** The markup of the whole body, in pieces; it ends in a paragraph, as a table cell and a page want it. */
export function* renderBody(
  pen: BodyWriter,
  document: ExportDocument,
  indentInches: number,
): Generator<string> {
  if (pen.plan.mode === 'styles')
    yield renderParagraph({ style: pen.plan.styles.title.id }, renderTextRun(document.title));
  if (document.nodes.length === 0 && pen.plan.mode !== 'styles') yield '<w:p/>';
  yield* renderNodes(pen, document.nodes, 0, Math.round(indentInches * 1_440));
}

function* renderNodes(
  pen: BodyWriter,
  siblings: ExportNode[],
  depth: number,
  step: number,
): Generator<string> {
  for (const node of siblings) {
    const edge: Position = { base: 0, left: 0, width: pen.plan.room.width, level: 0, context: {} };
    const left = limitIndent(edge, depth * step);
    const place = { ...edge, base: left, left };
    // it is made each time that it is asked for
    const { content } = node;
    const text = content ? renderBlocks(pen, wellFormed(content).content ?? [], place) : '';
    yield renderHeading(pen, node, left) + text;
    yield* renderNodes(pen, node.children, depth + 1, step);
  }
}

/** A heading that is numbered keeps the indent that its numbering gives it. */
function renderHeading(pen: BodyWriter, node: ExportNode, left: number): string {
  const { heading1, heading2, heading3 } = pen.plan.styles;
  const fact = node.node_type === 'section' ? heading1 : node.node_type === 'step' ? heading2 : heading3;
  const indent = fact.isNumbered || left === 0 ? {} : { left: left + fact.left };
  return renderParagraph({ style: fact.id, ...indent }, renderTextRun(node.title));
}
