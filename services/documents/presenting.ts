/** How documents and nodes look to clients; stored rich text is spliced in as the JSON text that it is. */
import type { DocumentSummary } from './shapes.ts';
import type { DocumentRow, NodeRow } from './store/collections.ts';

/** A document without its nodes. */
export function summaryOf(row: DocumentRow): DocumentSummary {
  return {
    id: row._id,
    organization_id: row.organization_id,
    created_by: row.created_by,
    editor_id: row.editor_id,
    parent_doc_id: row.parent_doc_id,
    title: row.title,
    version: row.version,
    department: row.department,
    status: row.status,
    published_at: row.published_at?.toISOString() ?? null,
    archived_at: row.archived_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/** A document with its tree, as JSON text. */
export function documentText(document: DocumentRow, nodes: readonly NodeRow[]): string {
  const children = new Map<string | null, NodeRow[]>();
  for (const node of [...nodes].sort(bySiblingOrder)) {
    const siblings = children.get(node.parent_id);
    if (siblings) siblings.push(node);
    else children.set(node.parent_id, [node]);
  }
  const tree = (parent: string | null): string =>
    `[${(children.get(parent) ?? []).map((node) => nodeText(node, tree(node._id))).join(',')}]`;
  return `${JSON.stringify(summaryOf(document)).slice(0, -1)},"nodes":${tree(null)}}`;
}

/** A node as JSON text; `children` is JSON text too. */
export function nodeText(node: NodeRow, children = '[]'): string {
  const { _id: id, document_id, parent_id, node_type, title, order, created_by } = node;
  const before = JSON.stringify({ id, document_id, parent_id, node_type, title }).slice(0, -1);
  const times = { created_at: node.created_at.toISOString(), updated_at: node.updated_at.toISOString() };
  const after = JSON.stringify({ order, created_by, ...times }).slice(1, -1);
  return `${before},"content":${node.content ?? 'null'},${after},"children":${children}}`;
}

/** Siblings sort by order, ties by creation (ids are ordered by time). */
function bySiblingOrder(a: NodeRow, b: NodeRow): number {
  return a.order - b.order || (a._id < b._id ? -1 : 1);
}
