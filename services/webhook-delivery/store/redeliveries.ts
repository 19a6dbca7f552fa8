/** Repetitions in MongoDB: new rows of the log for events that were told before. */
import { NotFound } from '#libs/contract';
import type { Actor, Store } from '#libs/store';
import { EventExpired } from '../contract.ts';
import { maxPerRequest, uniqueByEvent } from '../rules/redelivery.ts';
import { type DeliveryRow, webhookDeliveries, webhookEvents } from './collections.ts';
import { newDelivery, write } from './update-pipelines.ts';

/** Repeats what the log has. */
export function redeliveries(store: Store, now: () => Date) {
  const rows = store.rows(webhookDeliveries);
  const events = store.rows(webhookEvents);

  return {
    /** One entry; `NotFound`. */
    async entry({ organization_id, tx }: Actor, _id: string): Promise<DeliveryRow> {
      const session = tx ? { session: tx.session } : {};
      const row = await rows.findOne({ _id, organization_id }, null, session).lean();
      if (!row) throw NotFound();
      return row;
    },

    /** Has an entry's event sent again; gives the new entry. `EventExpired`. */
    again(acting: Actor, entry: DeliveryRow): Promise<DeliveryRow> {
      return store.transact(acting, async (tx) => {
        const { session } = tx;
        if (!(await events.exists({ _id: entry.event_id }).session(session))) throw EventExpired();
        const row = newDelivery(entry, entry.config_id, now());
        await rows.updateOne({ _id: entry._id }, { redeliverable: false }, { session });
        await write(store, [row], tx);
        return row;
      });
    },

    /**
     * Has events sent again whose deliveries to a webhook failed, each once: the oldest first, `maxRepeated` entries at
     * most. Gives the reply for their number. One transaction marks what is sent again, so nothing is sent again twice.
     */
    failed<R>(
      acting: Actor,
      { config_id, since }: { config_id: string; since: Date },
      reply: (count: number) => R,
    ): Promise<R> {
      const { organization_id } = acting;
      const failed = { status: 'failed' as const, redeliverable: true, created_at: { $gte: since } };
      const repeat = () =>
        store.respond(acting, async (_, tx) => {
          const { session } = tx;
          const found = await rows
            .find({ organization_id, config_id, ...failed }, null, { session })
            .sort({ created_at: 1, _id: 1 })
            .limit(maxPerRequest)
            .lean();
          const told = { _id: { $in: found.map(({ event_id }) => event_id) } };
          const kept = await events.find(told, { _id: 1 }, { session }).lean();
          const keptIds = new Set(kept.map(({ _id }) => _id));
          const at = now();
          const again = uniqueByEvent(found)
            .filter(({ event_id }) => keptIds.has(event_id))
            .map((entry) => newDelivery(entry, config_id, at));
          const ids = found.map(({ _id }) => _id);
          await rows.updateMany({ _id: { $in: ids } }, { redeliverable: false }, { session });
          if (again.length > 0) await write(store, again, tx);
          return reply(again.length);
        });
      return store.withLock(config_id, repeat);
    },
  };
}

export type Redeliveries = ReturnType<typeof redeliveries>;
