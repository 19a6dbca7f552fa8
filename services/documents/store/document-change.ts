/** Completes a change of a document's row with the fields that every change sets. */
import { withoutApproval } from '../rules/approval.ts';
import { scheduleUpdateEvent } from '../rules/update-events.ts';
import { isInPlaceEdit } from '../rules/writes.ts';
import type { DocumentRow } from './collections.ts';
import { scheduleReindex } from './search.ts';

/** The fields of a document's row that a change sets. */
export type Change = Partial<Omit<DocumentRow, '_id' | 'organization_id' | 'row_version'>>;

/**
 * Adds the new version and time, and the marks for the search index and the update event. An edit of a published
 * version clears its content hash and its approval. `changesText` says that a text in the tree changes, too.
 */
export function completeChange(document: DocumentRow, change: Change, at: Date, changesText = false) {
  const title = change.title === document.title ? undefined : change.title;
  return {
    ...change,
    ...scheduleReindex({ title, changesText }, at),
    ...(isInPlaceEdit(document, change) && { ...withoutApproval, ...scheduleUpdateEvent(document, at) }),
    updated_at: at,
    row_version: document.row_version + 1,
  };
}
