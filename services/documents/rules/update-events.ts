/** Decides when a `document.updated` event is due after an edit of a published document. */

/** The minimum time between two `document.updated` events of one document, ms. */
const updateEventDelayMs = 5_000;

/** The fields of a document that the rule needs. */
export interface UpdateEventState {
  /** When the event about earlier changes is due; unset if it has been published. */
  update_event_due_at?: Date;
}

/**
 * Returns the due time to store with an edit of a published document. An event that is already due keeps its time, so
 * continuous changes do not postpone it. A due time too far in the future comes from a wrong clock and is replaced by
 * an earlier one.
 */
export function scheduleUpdateEvent(
  { update_event_due_at }: UpdateEventState,
  at: Date,
): { update_event_due_at?: Date } {
  const latest = new Date(at.getTime() + updateEventDelayMs);
  return update_event_due_at && update_event_due_at <= latest ? {} : { update_event_due_at: latest };
}
