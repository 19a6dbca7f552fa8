/** The JSON that a public link answers with, written as text so that stored rich text is spliced in unparsed. */
import type { DocumentState, NodeRow } from './store.ts';
import { type Children, childrenOf } from './tree.ts';

/** The whole document as JSON text. */
export function embedJson(document: DocumentState, rows: readonly NodeRow[]): string {
  const { _id: id, title, version, department, status } = document;
  const head = JSON.stringify({ id, title, version, department, status }).slice(0, -1);
  return `${head},"nodes":${listJson(null, childrenOf(rows))}}`;
}

function listJson(parent: string | null, children: Children): string {
  return `[${(children.get(parent) ?? []).map((row) => nodeJson(row, children)).join(',')}]`;
}

function nodeJson(row: NodeRow, children: Children): string {
  const { _id: id, node_type, title, content, order } = row;
  const head = JSON.stringify({ id, node_type, title }).slice(0, -1);
  return `${head},"content":${content ?? 'null'},"order":${order},"children":${listJson(id, children)}}`;
}
