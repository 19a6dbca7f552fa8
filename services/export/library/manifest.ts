/** Writes the manifest of a library: what the archive contains, and what `document.json` does not say. */
import { type Asset, libraryFormat, toDocumentPaths } from '../../documents/contract.ts';
import type { LibraryDocument } from '../store/library.ts';

/** A document in the manifest. Times are ISO 8601. */
export interface ManifestDocument {
  /** The path of its `document.json`. */
  path: string;
  id: string;
  parent_doc_id: string | null;
  status: LibraryDocument['status'];
  language: string | null;
  published_at: string | null;
  archived_at: string | null;
  content_hash: string | null;
}

/** Maps a document to its entry. */
export function toManifestDocument(row: LibraryDocument): ManifestDocument {
  return {
    path: toDocumentPaths(row._id).json,
    id: row._id,
    parent_doc_id: row.parent_doc_id,
    status: row.status,
    language: row.language ?? null,
    published_at: row.published_at?.toISOString() ?? null,
    archived_at: row.archived_at?.toISOString() ?? null,
    content_hash: row.content_hash ?? null,
  };
}

/** A picture in the manifest. */
export interface ManifestAsset extends Pick<Asset, 'id' | 'media_type'> {
  path: string;
}

/** What the manifest says about the archive as a whole. */
export interface LibraryContent {
  exportedAt: Date;
  organizationId: string;
  documents: readonly ManifestDocument[];
  assets: readonly ManifestAsset[];
}

/** Writes the manifest as JSON. */
export function writeManifest({ exportedAt, organizationId, documents, assets }: LibraryContent): Buffer {
  const manifest = {
    ...libraryFormat,
    ...{ exported_at: exportedAt.toISOString(), organization_id: organizationId, documents, assets },
  };
  return Buffer.from(JSON.stringify(manifest));
}
