/** The tree of a document from its rows. */
import type { NodeRow } from './store.ts';

/** The children of each node in their order, by its id; the sections by null. */
export type Children = ReadonlyMap<string | null, readonly NodeRow[]>;

/** The rows by their parent: siblings by `order`, ties by creation (ids are ordered by time). */
export function childrenOf(rows: readonly NodeRow[]): Children {
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
