/** Completes a change of a document's row with the fields that every change sets. */
import { withoutApproval } from '../rules/approval.ts';
import { scheduleUpdateEvent } from '../rules/update-events.ts';
import { isInPlaceEdit } from '../rules/writes.ts';
import type { DocumentRow } from './collections.ts';
import { scheduleReindex } from './search.ts';

/** The fields of a document's row that a change sets. */
export type Change = Partial<Omit<DocumentRow, '_id' | 'organization_id' | 'row_version'>>;

/** The outcome of `decide`: what changes and, if the caller needs one, a result. */
export interface Decision {
  /** The fields of the document to change. */
  change: Change;
  /** Whether neither the document nor its nodes change. Then its row stays as it is. */
  isUnchanged?: boolean;
  /** Whether a title or rich text in the tree changes. */
  changesText?: boolean;
  result?: unknown;
}

/** An updated document and the result of the decision. */
export interface Updated<D extends Decision> {
  document: DocumentRow;
  result: D['result'];
}

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
