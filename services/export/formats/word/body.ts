/** The body of the document: each node's heading and text, a node at a time, so that memory stays flat. */
import { toWellFormed } from '#libs/rich-text';
import type { ExportDocument, ExportNode } from '../document.ts';
import { blocks, paragraph } from './blocks.ts';
import { type BodyWriter, inward, type Place } from './body-writer.ts';
import { textRun } from './runs.ts';

/** The markup of the whole body, in pieces; it ends in a paragraph, as a table cell and a page want it. */
export function* bodyMarkup(
  pen: BodyWriter,
  document: ExportDocument,
  indentInches: number,
): Generator<string> {
  if (pen.plan.mode === 'styles')
    yield paragraph({ style: pen.plan.styles.title.id }, textRun(document.title));
  if (document.nodes.length === 0 && pen.plan.mode !== 'styles') yield '<w:p/>';
  yield* nodes(pen, document.nodes, 0, Math.round(indentInches * 1_440));
}

function* nodes(pen: BodyWriter, siblings: ExportNode[], depth: number, step: number): Generator<string> {
  for (const node of siblings) {
    const edge: Place = { base: 0, left: 0, width: pen.plan.room.width, level: 0, looks: {} };
    const left = inward(edge, depth * step);
    const place = { ...edge, base: left, left };
    // it is made each time that it is asked for
    const { content } = node;
    const text = content ? blocks(pen, toWellFormed(content).content ?? [], place) : '';
    yield heading(pen, node, left) + text;
    yield* nodes(pen, node.children, depth + 1, step);
  }
}

/** A heading that is numbered keeps the indent that its numbering gives it. */
function heading(pen: BodyWriter, node: ExportNode, left: number): string {
  const { heading1, heading2, heading3 } = pen.plan.styles;
  const fact = node.node_type === 'section' ? heading1 : node.node_type === 'step' ? heading2 : heading3;
  const indent = fact.isNumbered || left === 0 ? {} : { left: left + fact.left };
  return paragraph({ style: fact.id, ...indent }, textRun(node.title));
}
