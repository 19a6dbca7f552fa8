/** Finds published documents with a due notice about their review, and claims the notices one by one. */
import type { Store, Transaction } from '#libs/store';
import { type DaysLeft, sendNotice } from '../rules/review.ts';
import { type DocumentRow, documents } from './collections.ts';

/** The earliest time: the partial index holds only rows whose time is later. */
const earliest = new Date(0);

/** A document with a due notice. */
export type DueReview = Pick<DocumentRow, '_id' | 'organization_id'> & {
  review_due_at: Date;
  review_notice_at: Date;
};

/** Finds the due notices of all organizations. */
export function createDueReviews(store: Store, now: () => Date) {
  const rows = store.rows(documents);

  return {
    /** Returns at most `limit` documents whose notice is due, longest due first. */
    find(limit: number): Promise<DueReview[]> {
      const due = { review_notice_at: { $gt: earliest, $lte: now() } };
      const fields = { organization_id: 1, review_due_at: 1, review_notice_at: 1 } as const;
      return rows.find(due, fields).sort({ review_notice_at: 1 }).limit(limit).lean<DueReview[]>();
    },

    /**
     * Claims the notice and returns the document; undefined if another replica was faster, or if the review is due at
     * another time now. Changes neither the ETag nor `updated_at`. A concurrent change of the document conflicts with
     * this transaction.
     */
    async claim(
      { _id, organization_id, review_due_at, review_notice_at }: DueReview,
      { session }: Transaction,
    ): Promise<{ document: DocumentRow; days_left: DaysLeft } | undefined> {
      const due = { _id, organization_id, review_due_at, review_notice_at };
      const document = await rows.findOne(due, null, { session }).lean();
      if (!document) return undefined;
      const { days_left, change } = sendNotice(document, review_due_at, now());
      await rows.updateOne({ _id }, change, { session });
      return { document, days_left };
    },
  };
}

export type DueReviews = ReturnType<typeof createDueReviews>;
