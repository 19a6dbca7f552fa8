/** Writes the manifest of a library: what the archive contains, and what `document.json` does not say. */
import type { LibraryDocument } from '../store/library.ts';

/** The paths of a document in the archive. */
export function toPaths(id: string) {
  const folder = `documents/${id}`;
  return { json: `${folder}/document.json`, markdown: `${folder}/document.md` };
}

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
    path: toPaths(row._id).json,
    id: row._id,
    parent_doc_id: row.parent_doc_id,
    status: row.status,
    language: row.language ?? null,
    published_at: row.published_at?.toISOString() ?? null,
    archived_at: row.archived_at?.toISOString() ?? null,
    content_hash: row.content_hash ?? null,
  };
}

/** What the manifest says about the archive as a whole. */
export interface LibraryContent {
  exportedAt: Date;
  organizationId: string;
  documents: readonly ManifestDocument[];
}

/** Writes the manifest as JSON. */
export function writeManifest({ exportedAt, organizationId, documents }: LibraryContent): Buffer {
  const manifest = {
    ...{ format: 'pds-library', version: 1 },
    ...{ exported_at: exportedAt.toISOString(), organization_id: organizationId, documents, assets: [] },
  };
  return Buffer.from(JSON.stringify(manifest));
}
