/** Defines the lineage of nodes: what makes nodes of different versions of a document the same node. */

/** The fields of a node that give its lineage. */
export interface NodeLineage {
  _id: string;
  lineage_id?: string;
}

/** Returns the lineage id of a node. A node from before lineage ids existed has its own id. */
export function getLineageId({ _id, lineage_id = _id }: NodeLineage): string {
  return lineage_id;
}

/** A node of a tree in a request. */
interface LineageInput {
  lineage_id?: string | undefined;
  children?: readonly LineageInput[] | undefined;
}

/** Returns true if a node of the tree names its lineage, and so may be a node that exists. */
export function hasLineage(nodes: readonly LineageInput[]): boolean {
  return nodes.some(({ lineage_id, children = [] }) => lineage_id !== undefined || hasLineage(children));
}
