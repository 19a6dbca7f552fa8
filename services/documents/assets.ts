/** Stores uploaded pictures without their metadata, and returns them. */
import { createHash } from 'node:crypto';
import { body, NotFound } from '#libs/contract';
import { handle, type Route, reply } from '#libs/http';
import { cleanPicture, pictureFaults } from '#libs/pictures';
import { toAssetSource } from '#libs/rich-text';
import { toAssetHeaders, toBytes } from './asset-views.ts';
import { type Asset, AssetInvalid, createAsset, getAsset } from './contract.ts';
import type { CountUpload } from './metrics.ts';
import type { Assets } from './store/assets.ts';
import type { AssetRow } from './store/collections.ts';

/** The dependencies of `assetHandlers`. */
export interface AssetHandlerDeps {
  assets: Assets;
  countUpload: CountUpload;
}

/** Handles `createAsset` and `getAsset`. */
export function assetHandlers({ assets, countUpload }: AssetHandlerDeps): Route[] {
  return [
    handle(createAsset, async ({ actor, body: { file } }) => {
      const cleaned = cleanPicture(file.bytes);
      if (!cleaned.ok) {
        countUpload({ result: 'rejected' });
        throw AssetInvalid(`${pictureFaults[cleaned.fault]}.`, { extra: { reason: cleaned.fault } });
      }
      const id = createHash('sha256').update(cleaned.picture.bytes).digest('hex');
      const { result, isNew } = await assets.add(actor, { ...cleaned.picture, id }, toAsset);
      countUpload({ result: isNew ? 'stored' : 'known' });
      return result;
    }),

    handle(getAsset, async ({ actor, params: { asset_id }, call }) => {
      // the bytes of an asset never change, so a client that has them needs no others
      if (call.hasCurrent(asset_id) && (await assets.exists(actor, asset_id)))
        return reply(body('image/png', ''), { etag: asset_id });
      const file = await assets.findFile(actor, asset_id);
      if (!file) throw NotFound();
      const content = body(file.media_type, toBytes(file.bytes));
      return reply(content, { etag: asset_id, headers: toAssetHeaders(file) });
    }),
  ];
}

function toAsset({ asset_id, media_type, width, height, size_bytes, created_at }: AssetRow): Asset {
  return {
    ...{ id: asset_id, src: toAssetSource(asset_id), media_type, width, height, size_bytes },
    created_at: created_at.toISOString(),
  };
}
