/** Changes that break the invariants of reviews. */
import { type Breaks, nobody, set, yesterday } from './change-rows.ts';

const due = { review_due_at: { $type: 'date' } };
const notDue = { review_due_at: null, status: 'published' };
const revision = { parent_doc_id: { $ne: null } };

/** The changes by invariant. */
export const reviewBreaks: Breaks = {
  'documents.reviewer_id': [set('documents', { reviewer_id: nobody })],
  'documents.review_months': [
    set('documents', { review_months: 7 }, { ...revision, status: 'draft' }),
    set('documents', { reviewer_id: nobody }, revision),
  ],
  'documents.review_due_at': [
    set('documents', { review_due_at: yesterday }, due),
    set('documents', { review_due_at: yesterday }, { status: 'draft' }),
    set('documents', { review_due_at: null }, due),
    set('documents', { reviewed_at: new Date('2999-01-01') }, due),
    set('documents', { review_months: 7 }, notDue),
  ],
  'documents.review_notice_at': [
    set('documents', { review_notice_at: yesterday }, due),
    set('documents', { review_notice_at: null }, due),
    set('documents', { review_notice_at: yesterday }, notDue),
  ],
};
