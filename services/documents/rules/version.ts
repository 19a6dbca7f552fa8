/** Defines the version rule: the version of a revision must differ from that of its original. */
import type { DocumentStatus } from '../shapes.ts';

/** The fields of a document that the rule needs. */
export interface VersionedDocument {
  status: DocumentStatus;
  parent_doc_id: string | null;
}

/** Returns the id of the document whose version a change must not repeat; null if there is none. */
export function getComparedDocumentId(
  { status, parent_doc_id }: VersionedDocument,
  change: object,
): string | null {
  return status === 'draft' && 'version' in change ? parent_doc_id : null;
}

/**
 * Returns true if both versions are equal apart from spaces at the ends, which nobody sees. An original without a
 * version never blocks.
 */
export function repeatsVersion(version: string | null | undefined, original: string | null): boolean {
  const known = original?.trim();
  return Boolean(known) && version?.trim() === known;
}
