/** The read-only view of summaries, for the events of other services, and the mapping of a row to a summary. */
import { z } from 'zod';
import { id, type RowOf, view } from '#libs/contract';
import type { ApprovalState } from './rules/approval.ts';
import { DocumentSummary } from './shapes.ts';

/** Every document without its tree, in any state. */
export const documentSummaries = view({
  name: 'document_summaries',
  collection: 'documents',
  scope: 'organization_id',
  row: DocumentSummary.omit({ id: true, review: true }).extend({
    _id: id,
    // rows from before these fields existed do not have them
    language: z.string().nullish(),
    content_hash: z.string().nullish(),
    change_summary: z.string().nullish(),
    minor_change: z.boolean().nullish(),
    approver_ids: z.array(id).nullish(),
    approval: z.custom<ApprovalState>().nullish(),
    reviewer_id: id.nullish(),
    review_months: z.number().nullish(),
    reviewed_at: z.date().nullish(),
    review_due_at: z.date().nullish(),
    published_at: z.date().nullable(),
    archived_at: z.date().nullable(),
    created_at: z.date(),
    updated_at: z.date(),
  }),
});

/** The part of a row that a summary shows. */
export type SummaryRow = RowOf<typeof documentSummaries>;

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
