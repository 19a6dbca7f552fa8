/** The metrics of the documents service. */
import { counter, type Meters } from '#libs/service';

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

/** The metrics of assets. */
export const assetMetrics = [uploads, deletions];

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
