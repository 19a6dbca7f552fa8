/** Redeliveries in MongoDB: inserts new deliveries for events that were sent before. */
import { NotFound } from '#libs/contract';
import type { Actor, Store } from '#libs/store';
import { EventExpired } from '../contract.ts';
import { maxPerRequest, uniqueByEvent } from '../rules/redelivery.ts';
import { type DeliveryRow, webhookDeliveries, webhookEvents } from './collections.ts';
import { createDelivery, insertDeliveries } from './update-pipelines.ts';

/** Creates the repository of redeliveries. */
export function createRedeliveries(store: Store, now: () => Date) {
  const rows = store.rows(webhookDeliveries);
  const events = store.rows(webhookEvents);

  return {
    /** Returns an entry; throws `NotFound`. */
    async getEntry({ organization_id, tx }: Actor, _id: string): Promise<DeliveryRow> {
      const options = tx ? { session: tx.session } : {};
      const row = await rows.findOne({ _id, organization_id }, null, options).lean();
      if (!row) throw NotFound();
      return row;
    },

    /** Redelivers the event of an entry and returns the new entry; throws `EventExpired`. */
    redeliver(actor: Actor, entry: DeliveryRow): Promise<DeliveryRow> {
      return store.transact(actor, async (tx) => {
        const { session } = tx;
        if (!(await events.exists({ _id: entry.event_id }).session(session))) throw EventExpired();
        const row = createDelivery(entry, entry.config_id, now());
        await rows.updateOne({ _id: entry._id }, { redeliverable: false }, { session });
        await insertDeliveries(store, [row], tx);
        return row;
      });
    },

    /**
     * Redelivers the failed events of a webhook, each once: oldest first, at most `maxPerRequest` entries.
     * Returns the reply for their number. The same transaction marks the old entries, so no entry is
     * redelivered twice.
     */
    redeliverFailed<R>(
      actor: Actor,
      { config_id, since }: { config_id: string; since: Date },
      reply: (count: number) => R,
    ): Promise<R> {
      const { organization_id } = actor;
      const failed = { status: 'failed' as const, redeliverable: true, created_at: { $gte: since } };
      const redeliver = () =>
        store.respond(actor, async (_, tx) => {
          const { session } = tx;
          const entries = await rows
            .find({ organization_id, config_id, ...failed }, null, { session })
            .sort({ created_at: 1, _id: 1 })
            .limit(maxPerRequest)
            .lean();
          const byId = { _id: { $in: entries.map(({ event_id }) => event_id) } };
          const storedEvents = await events.find(byId, { _id: 1 }, { session }).lean();
          const storedIds = new Set(storedEvents.map(({ _id }) => _id));
          const at = now();
          const newRows = uniqueByEvent(entries)
            .filter(({ event_id }) => storedIds.has(event_id))
            .map((entry) => createDelivery(entry, config_id, at));
          const entryIds = entries.map(({ _id }) => _id);
          await rows.updateMany({ _id: { $in: entryIds } }, { redeliverable: false }, { session });
          if (newRows.length > 0) await insertDeliveries(store, newRows, tx);
          return reply(newRows.length);
        });
      return store.withLock(config_id, redeliver);
    },
  };
}

export type Redeliveries = ReturnType<typeof createRedeliveries>;
