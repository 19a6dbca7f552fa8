/** Decides when a change of a published document is announced as `document.updated`. */
import type { DocumentStatus } from '../shapes.ts';

/** The least time between two `document.updated` events of one document, ms. */
export const updateEventDelayMs = 5_000;

/** A document as far as this rule needs it. */
export interface UpdateEventState {
  status?: DocumentStatus;
  /** When the event about earlier changes is due; unset if they have been announced. */
  update_event_due_at?: Date;
}

/** The fields that a PATCH of a document or a write of its nodes changes. */
const contentFields: ReadonlySet<string> = new Set([
  'title',
  'version',
  'department',
  'node_count',
  'content_bytes',
]);

/**
 * The field to store with a change of a document. It is empty unless the document is published and its fields or nodes
 * change. A change without any field is a new order of nodes. An event that is due already keeps its time, so constant
 * changes do not postpone it. If that time is too far away, another clock was wrong, and the event is due sooner.
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
