/** The JSON that a public link answers with, written as text so that stored rich text is spliced in unparsed. */
import { createHash } from 'node:crypto';
import type { DocumentState, NodeRow } from './store.ts';

/** Changes whenever the same document gives other bytes: part of the ETag. */
export const rendererVersion = '1';

type Children = ReadonlyMap<string | null, readonly NodeRow[]>;

/** A strong ETag of the embed: it names all that the bytes depend on, so it is the same on every replica. */
export function etagOf(document: Pick<DocumentState, '_id' | 'row_version'>): string {
  const parts = ['embed.json', rendererVersion, document._id, document.row_version];
  return createHash('sha256').update(parts.join('/')).digest('base64url').slice(0, 27);
}

/** The whole document as JSON text; siblings by `order`, ties by creation (ids are ordered by time). */
export function embedJson(document: DocumentState, rows: readonly NodeRow[]): string {
  const { _id: id, title, version, department, status } = document;
  const head = JSON.stringify({ id, title, version, department, status }).slice(0, -1);
  return `${head},"nodes":${listJson(null, childrenOf(rows))}}`;
}

function childrenOf(rows: readonly NodeRow[]): Children {
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

function listJson(parent: string | null, children: Children): string {
  return `[${(children.get(parent) ?? []).map((row) => nodeJson(row, children)).join(',')}]`;
}

function nodeJson(row: NodeRow, children: Children): string {
  const { _id: id, node_type, title, content, order } = row;
  const head = JSON.stringify({ id, node_type, title }).slice(0, -1);
  return `${head},"content":${content ?? 'null'},"order":${order},"children":${listJson(id, children)}}`;
}
