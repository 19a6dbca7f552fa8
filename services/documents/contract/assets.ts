/** Defines the operations on assets: upload and download pictures. */
import { z } from 'zod';
import { multipart, NotFound, operation } from '#libs/contract';
import { member, StorageQuotaExhausted } from '../../identity/contract.ts';
import { Asset, assetId, maxAssetBytes, pictureMedia } from '../asset-shapes.ts';
import { AssetInvalid } from '../problems.ts';

export const createAsset = operation({
  id: 'createAsset',
  method: 'post',
  path: '/assets',
  summary: 'Upload a picture',
  description:
    'A PNG, JPEG or GIF of at most 10 MiB and 100 megapixels. Its first bytes decide the type. The service removes metadata, such as EXIF except the orientation, comments and text, and bytes after the end of the picture. The same picture always has the same id. An asset that no document names is deleted after 24 hours.',
  access: member,
  body: multipart({ fields: z.object({}), file: 'file', maxFileBytes: maxAssetBytes }),
  status: 201,
  returns: Asset,
  location: '/assets/{id}',
  problems: [AssetInvalid, StorageQuotaExhausted],
});

export const getAsset = operation({
  id: 'getAsset',
  method: 'get',
  path: '/assets/{asset_id}',
  summary: 'Download a picture',
  access: member,
  params: z.object({ asset_id: assetId }),
  status: 200,
  returns: pictureMedia,
  etag: true,
  problems: [NotFound],
});
