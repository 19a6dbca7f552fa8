/** Creates MongoDB rows for tests of the store, and for tests that need many documents or fixed times. */
import { newId } from '#libs/contract';
import { normalizeTitle } from '../rules/words.ts';
import type { DocumentRow, NodeRow } from '../store/collections.ts';

/** Creates a draft without nodes in a new organization; its words are up to date. `more` replaces fields. */
export function documentRow(more: Partial<DocumentRow> = {}): DocumentRow {
  const _id = newId();
  const at = new Date('2026-11-21T09:30:00.000Z');
  const title = more.title ?? 'SOP';
  return {
    _id,
    organization_id: newId(),
    family_id: _id,
    created_by: newId(),
    editor_id: null,
    parent_doc_id: null,
    title,
    version: null,
    department: null,
    language: null,
    status: 'draft',
    published_at: null,
    archived_at: null,
    content_hash: null,
    change_summary: null,
    minor_change: false,
    created_at: at,
    updated_at: at,
    row_version: 1,
    share_epoch: 0,
    node_count: 0,
    content_bytes: 0,
    normalized_title: normalizeTitle(title),
    reindex_at: null,
    ...more,
  };
}

/** Creates a section of a document. `more` replaces fields. */
export function nodeRow(document: DocumentRow, more: Partial<NodeRow> = {}): NodeRow {
  const _id = more._id ?? newId();
  return {
    _id,
    lineage_id: _id,
    organization_id: document.organization_id,
    document_id: document._id,
    parent_id: null,
    node_type: 'section',
    title: 'Section',
    content: null,
    order: 0,
    created_by: document.created_by,
    created_at: document.created_at,
    updated_at: document.updated_at,
    ...more,
  };
}
