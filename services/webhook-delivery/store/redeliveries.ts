/** Redeliveries in MongoDB: finds entries that may be sent again and inserts new deliveries for their events. */
import { NotFound } from '#libs/contract';
import { type Actor, type Store, type Transaction, toSessionOptions } from '#libs/store';
import { type DeliveryRow, webhookDeliveries, webhookEvents, withoutAttempts } from './collections.ts';
import { createDelivery, insertDeliveries } from './new-deliveries.ts';

/** Creates the repository of redeliveries. */
export function createRedeliveries(store: Store, now: () => Date) {
  const rows = store.rows(webhookDeliveries);
  const events = store.rows(webhookEvents);

  return {
    /** Returns an entry; throws `NotFound`. */
    async getEntry({ organization_id, tx }: Actor, _id: string): Promise<DeliveryRow> {
      const options = toSessionOptions(tx);
      const row = await rows.findOne({ _id, organization_id }, withoutAttempts, options).lean();
      if (!row) throw NotFound();
      return row;
    },

    /** Returns failed entries of a webhook that may be redelivered, oldest first. */
    findFailed(
      { organization_id }: Actor,
      { config_id, since, limit }: { config_id: string; since: Date; limit: number },
      { session }: Transaction,
    ): Promise<DeliveryRow[]> {
      const failed = { status: 'failed' as const, redeliverable: true, created_at: { $gte: since } };
      return rows
        .find({ organization_id, config_id, ...failed }, withoutAttempts, { session })
        .sort({ created_at: 1, _id: 1 })
        .limit(limit)
        .lean();
    },

    /** Returns the ids of those events whose payload is still stored. */
    async findStoredEvents(eventIds: readonly string[], { session }: Transaction): Promise<Set<string>> {
      const found = await events.find({ _id: { $in: eventIds } }, { _id: 1 }, { session }).lean();
      return new Set(found.map(({ _id }) => _id));
    },

    /** Marks entries as redelivered. */
    async markRedelivered(entries: readonly DeliveryRow[], { session }: Transaction): Promise<void> {
      const byId = { _id: { $in: entries.map(({ _id }) => _id) } };
      await rows.updateMany(byId, { redeliverable: false }, { session });
    },

    /** Inserts a new delivery for the event of each entry, due at once, and returns the new rows. */
    async insert(entries: readonly DeliveryRow[], tx: Transaction): Promise<DeliveryRow[]> {
      const at = now();
      const newRows = entries.map((entry) => createDelivery(entry, entry.config_id, at));
      if (newRows.length > 0) await insertDeliveries(store, newRows, tx);
      return newRows;
    },
  };
}

export type Redeliveries = ReturnType<typeof createRedeliveries>;
