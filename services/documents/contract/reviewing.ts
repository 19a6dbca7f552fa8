/** Defines the operations on the review cycle of a document. */
import { z } from 'zod';
import { id, NotFound, operation, patchBody } from '#libs/contract';
import { ownerOrAdmin } from '../../identity/contract.ts';
import { reviewerOwnerOrAdmin } from '../access.ts';
import { comment } from '../approval-shapes.ts';
import { DocumentIsArchived, DocumentNotPublished, ReviewerNotMember } from '../problems.ts';
import { everyMonths } from '../review-shapes.ts';
import { Document, docParams } from '../shapes.ts';

export const updateReview = operation({
  id: 'updateReview',
  method: 'patch',
  path: '/documents/{doc_id}/review',
  summary: 'Set who reviews a document, and how often',
  description:
    'Applies to all versions of the document. Send only the fields to change; `null` removes the reviewer or the interval. The published version gets its `due_at` at once: a new interval counts from its publication or its last review.',
  access: ownerOrAdmin('set the review of this document'),
  params: docParams,
  body: patchBody({
    reviewer_id: id.nullable().meta({ description: 'The member who confirms the document' }),
    every_months: everyMonths.nullable(),
  }),
  status: 200,
  returns: Document,
  etag: true,
  problems: [NotFound, DocumentIsArchived, ReviewerNotMember],
});

export const confirmReview = operation({
  id: 'confirmReview',
  method: 'post',
  path: '/documents/{doc_id}/review/confirm',
  summary: 'Confirm that a published document is still correct',
  description:
    'Sets `reviewed_at`, and the next `due_at` from this time on; the content does not change. `If-Match` makes sure that you confirm what you have read.',
  access: reviewerOwnerOrAdmin,
  params: docParams,
  body: z
    .strictObject({ comment: comment.nullish().meta({ description: 'What you have checked' }) })
    .optional(),
  status: 200,
  returns: Document,
  etag: true,
  problems: [NotFound, DocumentNotPublished],
});
