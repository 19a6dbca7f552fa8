/** The metrics of the documents service. */
import { counter, type Meters } from '#libs/service';

const reviewNotices = counter({
  name: 'review_notices_total',
  help: 'Published `document.review_due` events: 14 days before a review is due (`14`), and when it is due (`0`)',
  labels: { days_left: ['14', '0'] },
});

/** All metrics that only the documents service has. */
export const documentMetrics = [reviewNotices];

/** Counts one notice about a review. */
export type CountReviewNotice = (labels: { days_left: '14' | '0' }) => void;

/** Creates the function that counts notices about reviews. */
export function reviewNoticeCounter(meters: Meters): CountReviewNotice {
  return meters.counter(reviewNotices);
}
