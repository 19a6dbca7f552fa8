/** Rules of the export service: who may delete a template, and how rows become the tree of a document. */
import type { RowOf } from '#libs/contract';
import { type documentNodes, type documentStates, groupByParent } from '../documents/contract.ts';
import type { DocumentProperties, ExportNode } from './formats/document.ts';

/** A node row, as the view of the documents service returns it. */
export type NodeRow = RowOf<typeof documentNodes>;

/** Maps a document row to the properties that the formats need. */
export function toDocumentProperties(
  document: RowOf<typeof documentStates>,
  organization: string,
): DocumentProperties {
  const { title, version, department, published_at } = document;
  return { title, version, department, published_at: published_at?.toISOString() ?? null, organization };
}

/** Builds the tree of a document. */
export function buildTree(rows: readonly NodeRow[]): ExportNode[] {
  const children = groupByParent(rows);
  const getChildren = (parent: string | null): ExportNode[] =>
    (children.get(parent) ?? []).map((row) => new TreeNode(row, getChildren(row._id)));
  return getChildren(null);
}

/** A node that parses its content on access: a whole tree of parsed content takes many times its size. */
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
