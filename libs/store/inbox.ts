/** The inbox: the ids of handled events, so that a second delivery has no effect. */
import { collection } from './collection.ts';

/** A handled event. */
export interface InboxRow {
  /** The event's id. */
  _id: string;
  handled_at: Date;
}

/**
 * Declares the inbox of a service. Ids are kept for eight days, one day longer than events can be
 * republished.
 */
export function inboxCollection(service: string) {
  return collection<InboxRow>(`${service.replaceAll('-', '_')}_inbox`, {
    fields: { _id: String, handled_at: Date },
    indexes: [{ on: { handled_at: 1 }, options: { expireAfterSeconds: 8 * 86_400 } }],
  });
}
