/** Decides which assets a node references, and how long an asset may be without a reference. */
import { findAssets, mayNameAssets } from '#libs/rich-text';

/** How long an asset that no node references is kept, ms. */
export const unreferencedMaxMs = 24 * 3_600_000;

/** Returns the field of a node's row with the ids of the assets that its rich text, JSON text, names, each once. */
export function toAssetIds(content: string | null): { asset_ids?: string[] } {
  if (content === null || !mayNameAssets(content)) return {};
  const ids = findAssets(JSON.parse(content)).flatMap(({ id }) => id ?? []);
  return ids.length === 0 ? {} : { asset_ids: [...new Set(ids)] };
}
