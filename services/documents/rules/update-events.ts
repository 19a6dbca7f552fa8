/** Decides when a `document.updated` event is due after a change of a published document. */
import type { DocumentStatus } from '../shapes.ts';

/** The minimum time between two `document.updated` events of one document, ms. */
export const updateEventDelayMs = 5_000;

/** The fields of a document that the rule needs. */
export interface UpdateEventState {
  status?: DocumentStatus;
  /** When the event about earlier changes is due; unset if it has been published. */
  update_event_due_at?: Date;
}

/** The fields that a PATCH of a document or a write of its nodes changes. */
const contentFields: ReadonlySet<string> = new Set([
  'title',
  'version',
  'department',
  'language',
  'node_count',
  'content_bytes',
]);

/**
 * Returns the due time to store with a change of a document. Returns no field unless the document is
 * published and its fields or nodes change. A change without any field is a new order of nodes. An event that
 * is already due keeps its time, so continuous changes do not postpone it. A due time too far in the future
 * comes from a wrong clock and is replaced by an earlier one.
 */
export function scheduleUpdateEvent(
  { status, update_event_due_at }: UpdateEventState,
  change: object,
  at: Date,
): { update_event_due_at?: Date } {
  if (status !== 'published' || !changesContent(change)) return {};
  const latest = new Date(at.getTime() + updateEventDelayMs);
  return update_event_due_at && update_event_due_at <= latest ? {} : { update_event_due_at: latest };
}

function changesContent(change: object): boolean {
  const fields = Object.keys(change);
  return fields.length === 0 || fields.some((field) => contentFields.has(field));
}
