/** Creates the parts of the service that store, count and delete assets. */
import type { ServiceContext } from '#libs/service';
import type { StorageQuota } from '../identity/storage-quota.ts';
import { createAssetMetrics } from './metrics.ts';
import { assets } from './store/assets.ts';
import { createUnreferencedAssets } from './store/unreferenced-assets.ts';
import { unreferencedAssetWorker } from './unreferenced-assets.ts';

/** Returns the store of assets, the counter of uploads and the worker that deletes unreferenced assets. */
export function createAssetParts({
  store,
  now,
  log,
  meters,
  storageQuota,
}: Pick<ServiceContext<unknown>, 'store' | 'now' | 'log' | 'meters'> & { storageQuota: StorageQuota }) {
  const { countUpload, countDeletions } = createAssetMetrics(meters);
  const assetWorker = unreferencedAssetWorker({
    unreferencedAssets: createUnreferencedAssets(store, now),
    onDeleted(deleted) {
      countDeletions(deleted);
      log.info({ assets: deleted }, 'Deleted unreferenced assets');
    },
    onError: (message, error) => log.warn({ err: error }, message),
  });
  return { assets: assets(store, storageQuota, now), countUpload, assetWorker };
}
