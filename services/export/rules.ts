/** Rules of the export service: who may delete a template, and how rows become the tree of a document. */
import type { RowOf } from '#libs/contract';
import { type documentNodes, type documentStates, groupByParent } from '../documents/contract.ts';
import type { DocumentProperties, DocumentRecord, ExportNode } from './formats/document.ts';
import type { RecordRows, VersionRow } from './store/records.ts';

/** A node row, as the view of the documents service returns it. */
export type NodeRow = RowOf<typeof documentNodes>;

type DocumentState = RowOf<typeof documentStates>;

/** The uploaded pictures that one export may read, bytes. */
export const maxPictureBytes = 64 * 2 ** 20;

/** Returns the time of the approval, ISO 8601, or null without one. A draft never says that it is approved. */
export function getApprovedAt({ status, approval }: Pick<DocumentState, 'status' | 'approval'>) {
  return status === 'draft' ? null : (approval?.approved_at?.toISOString() ?? null);
}

/** Maps a document row to the properties that the formats need. */
export function toDocumentProperties(document: DocumentState, organization: string): DocumentProperties {
  const { title, version, department, status, published_at } = document;
  return {
    ...{ title, version, department, organization },
    published_at: published_at?.toISOString() ?? null,
    approved_at: status === 'published' ? getApprovedAt(document) : null,
  };
}

/** The state of a document, as far as its record says it. */
type RecordedState = Pick<
  DocumentState,
  '_id' | 'status' | 'content_hash' | 'change_summary' | 'approval' | 'review_due_at'
>;

/**
 * Maps the versions of a document's family to its record. The later version with the earliest publication supersedes
 * the document. The history ends with the document itself, so that an old version stays as it was.
 */
export function toDocumentRecord(
  { _id, status, content_hash, change_summary, approval, review_due_at }: RecordedState,
  { versions, names }: RecordRows,
  { url, exported_at, approved_by }: Pick<DocumentRecord, 'url' | 'exported_at' | 'approved_by'>,
): DocumentRecord | undefined {
  const own = versions.find((version) => version._id === _id);
  if (!own) return undefined;
  const published = versions.filter(isPublished).sort(comparePublication);
  const at = published.findIndex((version) => version._id === _id);
  const next = at === -1 ? undefined : published[at + 1];
  const getName = (userId: string | null | undefined) => (userId && names.get(userId)) || '';
  return {
    id: _id,
    status: next ? 'superseded' : status,
    superseded_by: next?.version ?? '',
    owner: getName(own.created_by),
    editor: getName(own.editor_id),
    url,
    exported_at,
    content_hash: content_hash?.replace('sha256:', '').slice(0, 12) ?? '',
    change_summary: change_summary ?? '',
    approved_at: getApprovedAt({ status, approval })?.slice(0, 10) ?? '',
    approved_by,
    review_due: review_due_at?.toISOString().slice(0, 10) ?? '',
    created_at: own.created_at.toISOString(),
    updated_at: own.updated_at.toISOString(),
    history: (at === -1 ? published : published.slice(0, at + 1)).map((version) => ({
      version: version.version,
      published_at: version.published_at.toISOString(),
      published_by: getName(version.published_by),
    })),
  };
}

type PublishedRow = VersionRow & { published_at: Date };

function isPublished(version: VersionRow): version is PublishedRow {
  return version.published_at !== null;
}

function comparePublication(a: PublishedRow, b: PublishedRow): number {
  return Number(a.published_at) - Number(b.published_at) || (a._id < b._id ? -1 : 1);
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
