/** The shapes of assets, as clients send and receive them. */
import { z } from 'zod';
import { media, timestamp } from '#libs/contract';

/** The id of an asset. */
export const assetId = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .meta({
    description: 'SHA-256 of the stored bytes, 64 lower-case hex digits',
    examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
  });

/** The media types of assets. */
export const assetType = z.enum(['image/png', 'image/jpeg', 'image/gif']);

/** The maximum size of an uploaded picture, bytes. A row of MongoDB can have 16 MiB. */
export const maxAssetBytes = 10 * 1024 * 1024;

export const Asset = z
  .strictObject({
    id: assetId,
    src: z.string().meta({ description: 'The `src` of an image node that shows the picture: `asset:<id>`' }),
    media_type: assetType,
    width: z.number().int().meta({ description: 'Width of the upright picture, pixels' }),
    height: z.number().int().meta({ description: 'Height of the upright picture, pixels' }),
    size_bytes: z.number().int().meta({ description: 'Size of the stored bytes' }),
    created_at: timestamp,
  })
  .meta({ id: 'Asset', description: 'A picture of the organization. It never changes.' });
export type Asset = z.infer<typeof Asset>;

/** The response with a picture. */
export const pictureMedia = media({
  'image/png': { description: 'A PNG' },
  'image/jpeg': { description: 'A JPEG' },
  'image/gif': { description: 'A GIF' },
});
