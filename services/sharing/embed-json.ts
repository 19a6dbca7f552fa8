/** Writes the JSON of a public link as text, so that stored rich text is inserted without parsing it. */
import { groupByParent, type NodesByParent } from '../documents/contract.ts';
import type { Control } from './rules/links.ts';
import type { DocumentState, NodeRow } from './store/share-tokens.ts';

/** The document with all its nodes as JSON text, in the shape of `EmbeddedDocument`. */
export function embedJson(document: DocumentState, rows: readonly NodeRow[], control?: Control): string {
  const { _id: id, title, version, department, status } = document;
  const head = JSON.stringify({ id, title, version, department, status, control }).slice(0, -1);
  return `${head},"nodes":${toListJson(null, groupByParent(rows))}}`;
}

function toListJson(parent: string | null, children: NodesByParent<NodeRow>): string {
  return `[${(children.get(parent) ?? []).map((row) => toNodeJson(row, children)).join(',')}]`;
}

function toNodeJson(row: NodeRow, children: NodesByParent<NodeRow>): string {
  const { _id: id, node_type, title, content, order } = row;
  const head = JSON.stringify({ id, node_type, title }).slice(0, -1);
  return `${head},"content":${content ?? 'null'},"order":${order},"children":${toListJson(id, children)}}`;
}
