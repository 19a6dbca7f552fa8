/** Defines the events that the documents service publishes. */
import { z } from 'zod';
import { event, id } from '#libs/contract';
import { Approval, contentHash } from './approval-shapes.ts';
import { DocumentSummary } from './shapes.ts';

export { contentHash } from './approval-shapes.ts';
export { DocumentSummary } from './shapes.ts';

const documentData = {
  document: DocumentSummary,
  refired: z
    .literal(true)
    .optional()
    .meta({ description: 'True if trigger-webhooks sent the event again; the document did not change' }),
};

export const DocumentPublished = event('document.published', {
  description: 'A draft was published.',
  data: z.strictObject(documentData),
  subscribable: true,
});

export const DocumentRevised = event('document.revised', {
  description: 'A revision was published and replaced the previous version.',
  data: z.strictObject(documentData),
  subscribable: true,
});

export const DocumentUpdated = event('document.updated', {
  description: 'The fields or the nodes of a published document changed.',
  data: z.strictObject({ document: DocumentSummary }),
  subscribable: true,
});

/** Internal: webhooks cannot subscribe to it. */
export const DocumentEdited = event('document.edited', {
  description:
    'A published version was changed in place for the first time, so it no longer has a content hash. `document.updated` reports all changes.',
  data: z.strictObject({ document: DocumentSummary }),
});

export const DocumentArchived = event('document.archived', {
  description: 'A published document was archived.',
  data: z.strictObject(documentData),
  subscribable: true,
});

export const DocumentAssigned = event('document.assigned', {
  description: 'An editor was assigned to a document.',
  data: z.strictObject({ document: DocumentSummary, editor_id: id }),
  subscribable: true,
});

/** Internal: webhooks cannot subscribe to it. A removed member is no longer the editor without this event. */
export const DocumentUnassigned = event('document.unassigned', {
  description: 'A document has no editor any more. `before` is who it was.',
  data: z.strictObject({ document: DocumentSummary, before: id }),
});

export const DocumentReviewDue = event('document.review_due', {
  description:
    'The review of a published document is due in at most 14 days (`days_left` 14), or now (0). Each notice is published once; after an outage only the last one.',
  data: z.strictObject({ document: DocumentSummary, days_left: z.literal([14, 0]) }),
  subscribable: true,
});

/** Internal: webhooks cannot subscribe to it. */
export const DocumentReviewed = event('document.reviewed', {
  description: 'A published document was confirmed to be still correct.',
  data: z.strictObject({ document: DocumentSummary, comment: z.string().nullable() }),
});

/** Internal: webhooks cannot subscribe to it. */
export const DocumentReviewUpdated = event('document.review_updated', {
  description: 'The reviewer or the interval of the reviews of a document was set.',
  data: z.strictObject({
    document: DocumentSummary,
    /** An older event does not have it. */
    before: z.strictObject({ reviewer_id: id.nullable(), every_months: z.int().nullable() }).optional(),
  }),
});

/** Internal: webhooks cannot subscribe to it. */
export const DocumentDeleted = event('document.deleted', {
  description: 'A draft was deleted.',
  data: z.strictObject({ document: DocumentSummary }),
});

const approvalData = z.strictObject({ document: DocumentSummary, approval: Approval });

export const ApprovalRequested = event('approval.requested', {
  description: 'A draft was submitted for approval.',
  data: approvalData,
  subscribable: true,
});

export const ApprovalApproved = event('approval.approved', {
  description: 'All approvers approved a draft. It can now be published.',
  data: approvalData,
  subscribable: true,
});

export const ApprovalRejected = event('approval.rejected', {
  description: 'An approver rejected a draft. It can be changed again.',
  data: approvalData,
  subscribable: true,
});

export const ApprovalWithdrawn = event('approval.withdrawn', {
  description: 'A request for approval was withdrawn. The draft can be changed again.',
  data: approvalData,
  subscribable: true,
});

/** Internal: webhooks cannot subscribe to it. Holds no name and no comment. */
export const ApprovalDecided = event('approval.decided', {
  description: 'An approver decided about a draft.',
  data: z.strictObject({
    document_id: id,
    approval_id: id,
    content_hash: contentHash,
    decision: z.enum(['approve', 'reject']),
  }),
});

/** Internal: webhooks cannot subscribe to it. */
export const DocumentApproversUpdated = event('document.approvers_updated', {
  description: 'The approvers of all versions of a document were set.',
  data: z.strictObject({ document: DocumentSummary, before: z.array(id) }),
});
