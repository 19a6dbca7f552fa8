/** Arranges the node rows of a document as a tree. */
import type { NodeRow } from './store.ts';

/** The sorted children of each node, by the id of their parent; the key of the sections is null. */
export type Children = ReadonlyMap<string | null, readonly NodeRow[]>;

/** Groups rows by parent; sorts siblings by `order`, then by creation, because ids sort by time. */
export function groupByParent(rows: readonly NodeRow[]): Children {
  const children = new Map<string | null, NodeRow[]>();
  for (const row of rows.toSorted(bySibling)) {
    const siblings = children.get(row.parent_id);
    if (siblings) siblings.push(row);
    else children.set(row.parent_id, [row]);
  }
  return children;
}

function bySibling(one: NodeRow, other: NodeRow): number {
  return one.order - other.order || (one._id < other._id ? -1 : 1);
}
