/** Defines the format of a library archive, which the export writes and an import reads. */
import type { Asset } from './asset-shapes.ts';
import { toAssetExtension } from './asset-views.ts';

/** The values of `format` and `version` in the manifest. */
export const libraryFormat = { format: 'pds-library', version: 1 } as const;

/** The path of the manifest in the archive. */
export const manifestPath = 'manifest.json';

/** The paths of a document in the archive. */
export function toDocumentPaths(id: string) {
  const folder = `documents/${id}`;
  return { json: `${folder}/document.json`, markdown: `${folder}/document.md` };
}

/** The path of a picture in the archive. */
export function toAssetPath({ id, media_type }: Pick<Asset, 'id' | 'media_type'>): string {
  return `assets/${id}.${toAssetExtension(media_type)}`;
}
