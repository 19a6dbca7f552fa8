/** Maps document rows to the response shapes without nodes. */
import type { Approval } from './approval-shapes.ts';
import type { ArchiveRecord, DocumentSummary, HistoryRecord } from './shapes.ts';
import type { ApprovalRow, DocumentRow, SummaryRow } from './store/collections.ts';

/** Maps a row to a document without its nodes. */
export function toSummary(row: SummaryRow): DocumentSummary {
  return {
    id: row._id,
    organization_id: row.organization_id,
    created_by: row.created_by,
    editor_id: row.editor_id,
    parent_doc_id: row.parent_doc_id,
    title: row.title,
    version: row.version,
    department: row.department,
    language: row.language ?? null,
    status: row.status,
    published_at: row.published_at?.toISOString() ?? null,
    archived_at: row.archived_at?.toISOString() ?? null,
    content_hash: row.content_hash ?? null,
    change_summary: row.change_summary ?? null,
    minor_change: row.minor_change ?? false,
    approver_ids: row.approver_ids ?? [],
    approval: toApprovalState(row.approval),
    review: toReview(row),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

function toApprovalState(approval: SummaryRow['approval']): DocumentSummary['approval'] {
  if (!approval) return null;
  const { id, status, approved_at } = approval;
  return { id, status, approved_at: approved_at?.toISOString() ?? null };
}

/** A row from before the fields existed, or without reviewer, interval and review, has no review. */
function toReview({
  reviewer_id = null,
  review_months = null,
  review_due_at,
  reviewed_at,
}: SummaryRow): DocumentSummary['review'] {
  if (reviewer_id === null && review_months === null && !reviewed_at) return null;
  return {
    ...{ reviewer_id, every_months: review_months },
    due_at: review_due_at?.toISOString() ?? null,
    reviewed_at: reviewed_at?.toISOString() ?? null,
  };
}

/** Maps a row to a request for approval. */
export function toApproval(row: ApprovalRow): Approval {
  return {
    id: row._id,
    document_id: row.document_id,
    content_hash: row.content_hash,
    status: row.status,
    submitted_by: row.submitted_by,
    comment: row.comment,
    approvers: row.approvers.map(({ member_id, name, decision, comment, decided_at }) => ({
      ...{ member_id, name, decision, comment },
      decided_at: decided_at?.toISOString() ?? null,
    })),
    created_at: row.created_at.toISOString(),
  };
}

/** Maps a row to a version in the history of a document. */
export function toHistoryRecord(row: DocumentRow): HistoryRecord {
  const { status: _status, ...record } = toSummary(row);
  return record;
}

/** Maps a row to the response of `archiveDocument`. */
export function toArchiveRecord(row: DocumentRow): ArchiveRecord {
  const { editor_id: _editor, parent_doc_id: _parent, ...record } = toHistoryRecord(row);
  return record;
}
