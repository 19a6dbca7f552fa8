/** Deletes assets that no node has referenced for 24 hours, with a worker in every replica. */
import { every, type Worker } from '#libs/service';
import type { UnreferencedAssets } from './store/unreferenced-assets.ts';

const hourMs = 3_600_000;
const batchSize = 100;

/** The dependencies of `unreferencedAssetWorker`. */
export interface UnreferencedAssetDeps {
  unreferencedAssets: UnreferencedAssets;
  /** Is called after each run that deleted assets, with their number. */
  onDeleted(assets: number): void;
  onError(message: string, error: unknown): void;
}

/** Creates the worker. */
export function unreferencedAssetWorker({ onError, ...deps }: UnreferencedAssetDeps): Worker {
  const run = (isStopped: () => boolean) => deleteUnreferencedAssets(deps, isStopped);
  return every(hourMs, run, (error) => onError('Could not delete unreferenced assets', error));
}

/**
 * Runs once: deletes what has been unreferenced for 24 hours, then marks what has become unreferenced. Ends early if
 * `isStopped` returns true.
 */
export async function deleteUnreferencedAssets(
  { unreferencedAssets, onDeleted }: Pick<UnreferencedAssetDeps, 'unreferencedAssets' | 'onDeleted'>,
  isStopped: () => boolean = () => false,
): Promise<void> {
  let deleted = 0;
  try {
    for (let hasMore = true; hasMore; ) {
      const due = await unreferencedAssets.findDue(batchSize);
      for (const asset of due) {
        if (isStopped()) return;
        if (await unreferencedAssets.deleteIfDue(asset)) deleted += 1;
      }
      // none of them is due any more
      hasMore = due.length === batchSize;
    }
  } finally {
    if (deleted > 0) onDeleted(deleted);
  }
  await unreferencedAssets.mark();
}
