/** The inbox: ids of events that were handled, so that a second delivery does nothing. */
import { collection } from './collection.ts';

/** One handled event. */
export interface InboxRow {
  /** The event's id. */
  _id: string;
  handled_at: Date;
}

/** The inbox of a service; ids stay eight days, a day longer than published events can be sent again. */
export function inboxCollection(service: string) {
  return collection<InboxRow>(`${service.replaceAll('-', '_')}_inbox`, {
    fields: { _id: String, handled_at: Date },
    indexes: [{ on: { handled_at: 1 }, options: { expireAfterSeconds: 8 * 86_400 } }],
  });
}
