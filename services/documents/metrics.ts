/** The metrics of the documents service. */
import { counter, type Meters } from '#libs/service';
import { importMetrics } from './import-metrics.ts';

const reviewNotices = counter({
  name: 'review_notices_total',
  help: 'Published `document.review_due` events: at most 14 days before a review is due (`14`), and when it is due (`0`)',
  labels: { days_left: ['14', '0'] },
});

const uploads = counter({
  name: 'asset_uploads_total',
  help: 'Uploaded pictures: stored, already there (`known`), or not a picture that can be stored (`rejected`)',
  labels: { result: ['stored', 'known', 'rejected'] },
});

const deletions = counter({
  name: 'assets_deleted_total',
  help: 'Assets deleted because no document had referenced them for 24 hours',
  labels: {},
});

/** All metrics that only the documents service has. */
export const documentMetrics = [...importMetrics, reviewNotices, uploads, deletions];

/** Counts one notice about a review. */
export type CountReviewNotice = (labels: { days_left: '14' | '0' }) => void;

/** Creates the function that counts notices about reviews. */
export function reviewNoticeCounter(meters: Meters): CountReviewNotice {
  return meters.counter(reviewNotices);
}

/** Counts one upload. */
export type CountUpload = (labels: { result: 'stored' | 'known' | 'rejected' }) => void;

/** Creates the functions that count uploads and deletions. */
export function createAssetMetrics(meters: Meters) {
  const countDeletions = meters.counter(deletions);
  return {
    countUpload: meters.counter(uploads) as CountUpload,
    countDeletions: (assets: number) => countDeletions({}, assets),
  };
}
