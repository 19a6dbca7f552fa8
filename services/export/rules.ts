/** The rules of export: who may delete a template, and how rows become the tree that is exported. */
import type { RowOf } from '#libs/contract';
import type { documentNodes, documentStates } from '../documents/contract.ts';
import type { DocumentFacts, ExportNode } from './formats/document.ts';

/** A node as documents publishes it. */
export type NodeRow = RowOf<typeof documentNodes>;

/** Whether this member may delete a template: whoever uploaded it, and admins. */
export function mayDelete(
  actor: { user_id: string; role: 'member' | 'admin' },
  template: { created_by: string },
): boolean {
  return actor.role === 'admin' || actor.user_id === template.created_by;
}

/** What the formats need to know of a document beside its tree. */
export function factsOf(document: RowOf<typeof documentStates>, organization: string): DocumentFacts {
  const { title, version, department, published_at } = document;
  return { title, version, department, published_at: published_at?.toISOString() ?? null, organization };
}

/** The tree of a document; siblings by `order`, ties by creation (ids are ordered by time). */
export function treeOf(rows: readonly NodeRow[]): ExportNode[] {
  const children = Map.groupBy(rows.toSorted(bySibling), (row) => row.parent_id);
  const under = (parent: string | null): ExportNode[] =>
    (children.get(parent) ?? []).map((row) => new TreeNode(row, under(row._id)));
  return under(null);
}

/** A node whose content is read when its turn comes: as objects, the texts of a whole tree take many times their size. */
class TreeNode implements ExportNode {
  readonly id: string;
  readonly node_type: ExportNode['node_type'];
  readonly title: string;
  readonly children: ExportNode[];
  readonly #content: string | null;

  constructor({ _id, node_type, title, content }: NodeRow, children: ExportNode[]) {
    this.id = _id;
    this.node_type = node_type;
    this.title = title;
    this.children = children;
    this.#content = content;
  }

  get content() {
    return this.#content === null ? null : JSON.parse(this.#content);
  }
}

function bySibling(one: NodeRow, other: NodeRow): number {
  return one.order - other.order || (one._id < other._id ? -1 : 1);
}
