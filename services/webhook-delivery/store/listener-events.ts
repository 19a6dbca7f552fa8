/** The unconfirmed events of listeners in MongoDB. */
import { newId } from '#libs/contract';
import { isDuplicate, type Store, type Transaction, toSessionOptions } from '#libs/store';
import { type ListenerEventRow, webhookListenerEvents } from './collections.ts';
import type { NewEvent } from './new-deliveries.ts';

/** Creates the repository of the events of listeners. */
export function createListenerEvents(store: Pick<Store, 'rows'>, now: () => Date) {
  const rows = store.rows(webhookListenerEvents);

  return {
    /** Adds an event to listeners, except those that have it. */
    async add(event: NewEvent, listenerIds: readonly string[]): Promise<void> {
      const at = now();
      const newRows = listenerIds.map((listenerId) => toRow(event, listenerId, at));
      const inserts = newRows.map((row) => insertOnce(row));
      await Promise.all(inserts);
    },

    /** Returns the oldest events of a listener. Event ids are ordered by the time of the change. */
    list: (listener_id: string, limit: number): Promise<ListenerEventRow[]> =>
      rows.find({ listener_id }).sort({ event_id: 1 }).limit(limit).readConcern('majority').lean().exec(),

    /** Returns those of the listeners for which `list` finds events: both use the same read concern. */
    findWithEvents: (listenerIds: readonly string[]): Promise<string[]> =>
      rows
        .distinct('listener_id', { listener_id: { $in: listenerIds } })
        .readConcern('majority')
        .exec(),

    /** Returns the number of events of a listener, at most `limit`. */
    count: (listener_id: string, limit: number): Promise<number> =>
      rows.countDocuments({ listener_id }, { limit }),

    /** Deletes events of a listener, all of them without `eventIds`. */
    async delete(listener_id: string, eventIds?: readonly string[], tx?: Transaction): Promise<void> {
      const filter = { listener_id, ...(eventIds && { event_id: { $in: eventIds } }) };
      await rows.deleteMany(filter, toSessionOptions(tx));
    },
  };

  async function insertOnce(row: ListenerEventRow): Promise<void> {
    try {
      await rows.insertMany([row], { lean: true });
    } catch (error) {
      if (!isDuplicate(error)) throw error;
    }
  }
}

export type ListenerEvents = ReturnType<typeof createListenerEvents>;

function toRow(
  { event_id, event_type, organization_id, body, trace }: NewEvent,
  listener_id: string,
  created_at: Date,
): ListenerEventRow {
  const event = { event_id, event_type, organization_id, body, ...(trace !== undefined && { trace }) };
  return { _id: newId(), listener_id, ...event, created_at };
}
