/** Publishes `document.review_due` when the review of a document is due, with a worker in every replica. */
import type { Worker } from '#libs/service';
import type { Store } from '#libs/store';
import { dueEventWorker } from './due-event-worker.ts';
import { DocumentReviewDue } from './events.ts';
import type { CountReviewNotice } from './metrics.ts';
import { toSummary } from './presenters.ts';
import { createDueReviews, type DueReview, type DueReviews } from './store/review-notices.ts';

/** The dependencies of `reviewNoticeWorker`. */
export interface ReviewNoticeDeps {
  store: Store;
  now: () => Date;
  countNotice: CountReviewNotice;
  onError(message: string, error: unknown): void;
}

/** Creates the worker that publishes due `document.review_due` events. */
export function reviewNoticeWorker({ store, now, countNotice, onError }: ReviewNoticeDeps): Worker {
  const dueReviews = createDueReviews(store, now);
  return dueEventWorker({
    name: 'review',
    find: dueReviews.find,
    publish: (due) => publishNotice({ store, dueReviews, countNotice }, due),
    onError,
  });
}

/**
 * Publishes the notice about one document. One transaction publishes the event and claims the notice, so a crash loses
 * no notice and only one replica publishes it.
 */
async function publishNotice(
  {
    store,
    dueReviews,
    countNotice,
  }: Pick<ReviewNoticeDeps, 'store' | 'countNotice'> & { dueReviews: DueReviews },
  due: DueReview,
): Promise<void> {
  const system = { organization_id: due.organization_id, user_id: null };
  const days_left = await store.withLock(due._id, () =>
    store.transact(system, async (tx) => {
      const claimed = await dueReviews.claim(due, tx);
      if (!claimed) return undefined;
      const { document, days_left } = claimed;
      tx.publish(DocumentReviewDue, { document: toSummary(document), days_left });
      return days_left;
    }),
  );
  if (days_left !== undefined) countNotice({ days_left: `${days_left}` });
}
