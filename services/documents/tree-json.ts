/**
 * Renders trees as JSON bytes. Stored rich text is inserted as the JSON text that it is. Large trees are
 * rendered in slices, so that other requests are served in between.
 */
import { startTimeSlices } from '#libs/workers';
import { toSummary } from './presenters.ts';
import { getLineageId } from './rules/lineage.ts';
import type { DocumentRow, NodeRow } from './store/collections.ts';
import { groupByParent, type NodePlace, type NodesByParent } from './views.ts';

/** Batches of nodes, in any order. */
export type NodeBatches = AsyncIterable<readonly NodeRow[]> | Iterable<readonly NodeRow[]>;

/** Renders a document with its tree as JSON bytes. */
export function renderDocument(document: DocumentRow, nodes: readonly RenderedNode[]): Promise<Buffer> {
  return join(renderOpening(document), listDescendants(null, groupByParent(nodes)), ']}');
}

/** Renders a document again after its row was changed. `bytes` are those from before, with the same nodes. */
export function renderChanged(document: DocumentRow, bytes: Uint8Array): Buffer {
  const before = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // in the fields before the nodes, JSON escapes the quotes
  const nodes = before.subarray(before.indexOf(nodesOpening) + nodesOpening.length);
  return Buffer.concat([Buffer.from(renderOpening(document)), nodes]);
}

const nodesOpening = ',"nodes":[';

/** Renders a document up to its list of nodes, which stays open. */
function renderOpening(document: DocumentRow): string {
  return JSON.stringify(toSummary(document)).slice(0, -1) + nodesOpening;
}

/** Renders the nodes of a document, each without its children. */
export async function renderNodes(batches: NodeBatches): Promise<RenderedNode[]> {
  const nodes: RenderedNode[] = [];
  for await (const batch of batches) {
    const slices = startTimeSlices();
    for (const row of batch) {
      nodes.push(renderFields(row));
      if (slices.isOver()) await slices.next();
    }
  }
  return nodes;
}

/** Renders a node with its descendants as JSON bytes. */
export function renderNode(node: NodeRow, descendants: readonly NodeRow[] = []): Promise<Buffer> {
  const root = { node: renderFields(node), level: 0 };
  return join('', [root, ...listDescendants(node._id, groupByParent(descendants.map(renderFields)), 1)], '');
}

/**
 * A rendered node and its position. The text is a Buffer, outside the V8 heap: with 10,000 rows as strings on
 * the heap, garbage collection would block the process longer than the rest of the rendering.
 */
export interface RenderedNode extends NodePlace {
  /** The JSON of the node up to its list of children, which stays open. */
  opening: Buffer;
}

function renderFields(node: NodeRow): RenderedNode {
  const { _id, document_id, parent_id, node_type, title, order, created_by } = node;
  const ids = { id: _id, lineage_id: getLineageId(node), document_id, parent_id };
  const before = JSON.stringify({ ...ids, node_type, title }).slice(0, -1);
  const times = { created_at: node.created_at.toISOString(), updated_at: node.updated_at.toISOString() };
  const after = JSON.stringify({ order, created_by, ...times }).slice(1, -1);
  const opening = Buffer.from(`${before},"content":${node.content ?? 'null'},${after},"children":[`);
  return { _id, parent_id, order, opening };
}

/** A node and its depth in the tree. */
interface TreePosition {
  node: RenderedNode;
  level: number;
}

/** Lists the descendants of a parent in reading order: each node is followed by its children. */
function listDescendants(
  parent: string | null,
  nodesByParent: NodesByParent<RenderedNode>,
  level = 0,
  found: TreePosition[] = [],
): TreePosition[] {
  for (const node of nodesByParent.get(parent) ?? []) {
    found.push({ node, level });
    listDescendants(node._id, nodesByParent, level + 1, found);
  }
  return found;
}

/** Joins nodes in reading order. Each node closes the preceding nodes that are not its ancestors. */
async function join(before: string, positions: readonly TreePosition[], after: string): Promise<Buffer> {
  const parts: Buffer[] = [Buffer.from(before)];
  let depth = -1;
  for (const { node, level } of positions) {
    if (level <= depth) parts.push(Buffer.from(`${']}'.repeat(depth - level + 1)},`));
    parts.push(node.opening);
    depth = level;
  }
  parts.push(Buffer.from(']}'.repeat(depth + 1) + after));
  const joined = Buffer.allocUnsafe(parts.reduce((sum, { length }) => sum + length, 0));
  const slices = startTimeSlices();
  let offset = 0;
  for (const part of parts) {
    offset += part.copy(joined, offset);
    if (slices.isOver()) await slices.next();
  }
  return joined;
}
