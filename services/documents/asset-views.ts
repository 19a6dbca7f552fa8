/** Defines the read-only views of assets for other services, and the ids of their rows. */
import { z } from 'zod';
import { id, view } from '#libs/contract';
import { assetType } from './asset-shapes.ts';

/** The id of an asset's rows. The same picture has the same asset id in every organization. */
export function toAssetKey(organizationId: string, assetId: string): string {
  return `${organizationId}/${assetId}`;
}

const assetFields = {
  /** See `toAssetKey`. */
  _id: z.string(),
  organization_id: id,
  asset_id: z.string(),
  media_type: assetType,
};

/** The type and size of the assets: of the upright picture, in pixels. */
export const assetDetails = view({
  name: 'asset_details',
  collection: 'assets',
  scope: 'organization_id',
  row: z.object({ ...assetFields, width: z.number(), height: z.number() }),
});

/** The bytes of the assets. */
export const assetBytes = view({
  name: 'asset_bytes',
  collection: 'asset_files',
  scope: 'organization_id',
  row: z.object({ ...assetFields, bytes: z.custom<StoredBytes>() }),
});

/** The size of all assets of an organization. It has no row for an organization without assets. */
export const assetUsage = view({
  name: 'asset_usage',
  collection: 'assets',
  scope: '_id',
  stages: [{ $group: { _id: '$organization_id', bytes: { $sum: '$size_bytes' } } }],
  row: z.object({
    /** The id of the organization. */
    _id: id,
    /** The size of the stored bytes. */
    bytes: z.number(),
  }),
});

/** Returns the header that names the file of an asset. */
export function toAssetHeaders({ asset_id, media_type }: { asset_id: string; media_type: string }) {
  const name = `${asset_id.slice(0, 12)}.${toAssetExtension(media_type)}`;
  return { 'Content-Disposition': `inline; filename="${name}"` };
}

/** Returns the extension of a file with an asset: png, jpg or gif. */
export function toAssetExtension(mediaType: string): string {
  return mediaType === 'image/jpeg' ? 'jpg' : mediaType.slice('image/'.length);
}

/** Bytes as the driver of MongoDB returns them. */
interface StoredBytes {
  readonly buffer: Uint8Array;
  /** The number of bytes. */
  readonly position: number;
}

/** Returns the bytes without copying them. */
export function toBytes({ buffer, position }: StoredBytes): Uint8Array {
  return buffer.subarray(0, position);
}
