/** Defines which changes write a document, and which of them edit a published version in place. */
import type { DocumentStatus } from '../shapes.ts';

/** The fields of a document that a PATCH of its fields or a write of its nodes changes. */
const writtenFields: ReadonlySet<string> = new Set([
  ...['title', 'version', 'department', 'language', 'node_count', 'content_bytes'],
  // only of drafts
  ...['change_summary', 'minor_change'],
]);

/** Returns true if a change writes fields or nodes. A change without any field is a new order of nodes. */
export function isWrite(change: object): boolean {
  const fields = Object.keys(change);
  return fields.length === 0 || fields.some((field) => writtenFields.has(field));
}

/**
 * Returns true if a change writes the fields or the nodes of a published version. Such an edit clears the content hash
 * and makes a `document.updated` event due.
 */
export function isInPlaceEdit({ status }: { status?: DocumentStatus }, change: object): boolean {
  return status === 'published' && isWrite(change);
}
