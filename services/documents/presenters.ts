/** Maps document rows to the response shapes without nodes. */
import type { Approval } from './approval-shapes.ts';
import type { ArchiveRecord, HistoryRecord } from './shapes.ts';
import type { ApprovalRow, DocumentRow } from './store/collections.ts';
import { toSummary } from './summaries.ts';

export { toSummary } from './summaries.ts';

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
