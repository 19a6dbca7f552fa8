/** The rules of export: who may delete a template, and how rows become the tree that is exported. */
import type { RowOf } from '#libs/contract';
import type { documentNodes, documentStates } from '../documents/contract.ts';
import type { ExportDocument, ExportNode } from './formats/document.ts';

/** A node as documents publishes it. */
export type NodeRow = RowOf<typeof documentNodes>;

/** Whether this member may delete a template: whoever uploaded it, and admins. */
export function mayDelete(
  actor: { user_id: string; role: 'member' | 'admin' },
  template: { created_by: string },
): boolean {
  return actor.role === 'admin' || actor.user_id === template.created_by;
}

/** A document as the formats take it; siblings by `order`, ties by creation (ids are ordered by time). */
export function exportable(
  document: RowOf<typeof documentStates>,
  nodes: readonly NodeRow[],
  organization: string,
): ExportDocument {
  const { title, version, department, published_at } = document;
  const children = Map.groupBy(nodes.toSorted(bySibling), (row) => row.parent_id);
  const under = (parent: string | null): ExportNode[] =>
    (children.get(parent) ?? []).map((row) => ({
      id: row._id,
      node_type: row.node_type,
      title: row.title,
      content: row.content === null ? null : JSON.parse(row.content),
      children: under(row._id),
    }));
  return {
    title,
    version,
    department,
    published_at: published_at?.toISOString() ?? null,
    organization,
    nodes: under(null),
  };
}

function bySibling(one: NodeRow, other: NodeRow): number {
  return one.order - other.order || (one._id < other._id ? -1 : 1);
}
