/** Failures in MongoDB: who is told of them, and which webhooks are switched off for them. */
import type { Store, Transaction } from '#libs/store';
import { WebhookDisabled, WebhookExhausted } from '../events.ts';
import { type EndpointHealth, shouldDisable, shouldNotify } from '../rules/endpoint-health.ts';
import { testType } from '../rules/redelivery.ts';
import { type ConfigRow, webhookConfigs, webhookDeliveries } from './collections.ts';

/** At most this many failures are counted in one event. */
const mostCounted = 1_000;

/** Tells of failures. */
export function failures(store: Store, now: () => Date) {
  const configs = store.rows(webhookConfigs);
  const rows = store.rows(webhookDeliveries);

  return {
    /**
     * Says of each webhook with failures that nobody was told of how many there are, and switches it off instead when all
     * its deliveries have failed for days. Whichever replica is first does it.
     */
    async tell(): Promise<void> {
      const ids = await rows.distinct('config_id', { notification_pending: true });
      if (ids.length === 0) return;
      const found = await configs.find({ _id: { $in: ids } }).lean();
      const active = new Map(found.filter(({ is_active }) => is_active).map((row) => [row._id, row]));
      // who switched it off, or deleted it, knows; who lost it to a 410 is told of that
      const idle = ids.filter((id) => !active.has(id));
      await rows.updateMany(
        { config_id: { $in: idle }, notification_pending: true },
        { $unset: { notification_pending: 1 } },
      );
      for (const row of active.values()) if (shouldNotify(row, now())) await tellOf(row);
    },
  };

  async function tellOf({ _id, organization_id }: ConfigRow): Promise<void> {
    await store.transact({ organization_id, user_id: null }, async (tx) => {
      const { session } = tx;
      const at = now();
      const row = await configs.findOne({ _id, is_active: true }, null, { session }).lean();
      if (!row || !shouldNotify(row, at)) return;
      const failed = await rows
        .find({ config_id: _id, notification_pending: true }, { event_type: 1, error: 1 }, { session })
        .sort({ _id: -1 })
        .limit(mostCounted)
        .lean();
      const [last] = failed;
      if (!last) return;
      const told = { _id: { $in: failed.map((one) => one._id) } };
      await rows.updateMany(told, { $unset: { notification_pending: 1 } }, { session });
      const webhook = { id: _id, name: row.name, created_by: row.created_by };
      if (shouldDisable(await standingOf(row, tx), at)) {
        await configs.updateOne({ _id }, { is_active: false, updated_at: at }, { session });
        tx.publish(WebhookDisabled, { webhook, reason: 'failing' });
        return;
      }
      // of a flood, the next thousand follow at once
      if (failed.length < mostCounted) await configs.updateOne({ _id }, { notified_at: at }, { session });
      const { event_type, error } = last;
      tx.publish(WebhookExhausted, {
        webhook,
        failed: failed.length,
        last: { entry_id: last._id, event_type, error },
      });
    });
  }

  /** Two looks into the index of webhooks and statuses, however long the log is. */
  async function standingOf(
    { _id, failures_counted_from, created_at }: ConfigRow,
    { session }: Transaction,
  ): Promise<EndpointHealth> {
    const from = failures_counted_from ?? created_at;
    const own = { config_id: _id, event_type: { $ne: testType } };
    const success = await rows
      .findOne({ ...own, status: 'delivered', created_at: { $gte: from } }, null, { session })
      .sort({ created_at: -1 })
      .lean();
    const begun = { $gte: success?.created_at ?? from };
    const failure = await rows
      .findOne({ ...own, status: 'failed', attempts: { $gt: 0 }, created_at: begun }, null, { session })
      .sort({ created_at: 1 })
      .lean();
    return { delivered: success?.updated_at, firstFailed: failure?.created_at };
  }
}

export type Failures = ReturnType<typeof failures>;
