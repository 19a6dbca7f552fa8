/** Writes documents and their trees as the same JSON as the services. */
import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Row } from './handler.ts';

/** Maps a document row to its JSON without nodes. */
export function summary(row: Row) {
  return {
    id: row._id,
    organization_id: row.organization_id,
    created_by: row.created_by,
    editor_id: row.editor_id,
    parent_doc_id: row.parent_doc_id,
    title: row.title,
    version: row.version,
    department: row.department,
    language: row.language,
    status: row.status,
    published_at: row.published_at,
    archived_at: row.archived_at,
    content_hash: row.content_hash ?? null,
    change_summary: row.change_summary ?? null,
    minor_change: row.minor_change ?? false,
    approver_ids: row.approver_ids ?? [],
    approval: row.approval ?? null,
    review: row.review ?? null,
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}

/** Writes a node as JSON text. Its rich text and `children` are JSON text already. */
export function nodeText(row: Row, children: string): string {
  const {
    _id: id,
    lineage_id = id,
    document_id,
    parent_id,
    node_type,
    title,
    order,
    created_by,
    created_at,
    updated_at,
  } = row;
  const before = JSON.stringify({ id, lineage_id, document_id, parent_id, node_type, title }).slice(0, -1);
  const after = JSON.stringify({ order, created_by, created_at, updated_at }).slice(1, -1);
  return `${before},"content":${row.content ?? 'null'},${after},"children":${children}}`;
}

/** Writes a document with its tree as JSON text. */
export function documentText(document: Row, rows: readonly Row[]): string {
  const families = groupByParent(rows);
  const list = (parent: string | null): string =>
    `[${(families.get(parent) ?? []).map((row) => nodeText(row, list(row._id))).join()}]`;
  return `${JSON.stringify(summary(document)).slice(0, -1)},"nodes":${list(null)}}`;
}

/** The same for nodes whose rich text is stored as BSON. */
export function documentTextFromBson(document: Row, rows: readonly Row[]): string {
  const families = groupByParent(rows);
  const list = (parent: string | null): object[] =>
    (families.get(parent) ?? []).map((row) => ({
      id: row._id,
      lineage_id: row.lineage_id ?? row._id,
      document_id: row.document_id,
      parent_id: row.parent_id,
      node_type: row.node_type,
      title: row.title,
      content: row.content,
      order: row.order,
      created_by: row.created_by,
      created_at: row.created_at,
      updated_at: row.updated_at,
      children: list(row._id),
    }));
  return JSON.stringify({ ...summary(document), nodes: list(null) });
}

/** Writes a document with its tree as the JSON text of a public link. */
export function embedText(document: Row, rows: readonly Row[]): string {
  const families = groupByParent(rows);
  const list = (parent: string | null): string =>
    `[${(families.get(parent) ?? []).map((row) => embedNode(row, list(row._id))).join()}]`;
  const { _id: id, title, version, department, status } = document;
  return `${JSON.stringify({ id, title, version, department, status }).slice(0, -1)},"nodes":${list(null)}}`;
}

function embedNode(row: Row, children: string): string {
  const { _id: id, node_type, title, order } = row;
  const before = JSON.stringify({ id, node_type, title }).slice(0, -1);
  return `${before},"content":${row.content ?? 'null'},"order":${order},"children":${children}}`;
}

/** Computes the content hash of a version. */
export function hashContent({ title, version, department }: Row, rows: readonly Row[]): string {
  const families = groupByParent(rows);
  const list = (parent: string | null): object[] =>
    (families.get(parent) ?? []).map((row) => ({
      node_type: row.node_type,
      title: row.title,
      content: row.content && JSON.parse(row.content),
      children: list(row._id),
    }));
  const content = canonicalize({ v: 1, title, version, department, nodes: list(null) }) ?? '';
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}

/** Groups rows by parent id, in the order of siblings. */
export function groupByParent(rows: readonly Row[]): Map<string | null, Row[]> {
  return Map.groupBy(
    rows.toSorted((a, b) => a.order - b.order || (a._id < b._id ? -1 : 1)),
    (row) => row.parent_id,
  );
}
