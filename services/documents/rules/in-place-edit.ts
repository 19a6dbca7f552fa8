/** Defines which changes edit a published version in place. */
import type { DocumentStatus } from '../shapes.ts';

/** The fields of a document that a PATCH of its fields or a write of its nodes changes. */
const contentFields: ReadonlySet<string> = new Set([
  'title',
  'version',
  'department',
  'language',
  'node_count',
  'content_bytes',
]);

/**
 * Returns true if a change edits the fields or the nodes of a published version. A change without any field is a new
 * order of nodes. Such an edit clears the content hash and makes a `document.updated` event due.
 */
export function isInPlaceEdit({ status }: { status?: DocumentStatus }, change: object): boolean {
  if (status !== 'published') return false;
  const fields = Object.keys(change);
  return fields.length === 0 || fields.some((field) => contentFields.has(field));
}
