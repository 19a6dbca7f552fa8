/** Publishes failure notifications and disables webhooks whose deliveries have failed for days. */
import type { Store, Transaction } from '#libs/store';
import { WebhookDisabled, WebhookExhausted } from '../events.ts';
import { type EndpointHealth, shouldDisable, shouldNotify } from '../rules/endpoint-health.ts';
import { testType } from '../rules/redelivery.ts';
import { type ConfigRow, webhookConfigs, webhookDeliveries } from './collections.ts';

/** Maximum number of failures that one event counts. */
const maxCounted = 1_000;

/** Creates the repository of failed deliveries. */
export function createFailures(store: Store, now: () => Date) {
  const configs = store.rows(webhookConfigs);
  const deliveries = store.rows(webhookDeliveries);

  return {
    /**
     * Publishes one notification per webhook with failures that have not been reported yet. If all deliveries
     * of a webhook have failed for days, disables the webhook instead. Several replicas may call this at the
     * same time.
     */
    async notifyFailures(): Promise<void> {
      const ids = await deliveries.distinct('config_id', { notification_pending: true });
      if (ids.length === 0) return;
      const found = await configs.find({ _id: { $in: ids } }).lean();
      const active = new Map(found.filter(({ is_active }) => is_active).map((row) => [row._id, row]));
      // no notification: a user disabled or deleted the webhook, or `webhook.disabled` reported the 410
      const inactiveIds = ids.filter((id) => !active.has(id));
      await deliveries.updateMany(
        { config_id: { $in: inactiveIds }, notification_pending: true },
        { $unset: { notification_pending: 1 } },
      );
      for (const row of active.values()) if (shouldNotify(row, now())) await notify(row);
    },
  };

  async function notify({ _id, organization_id }: ConfigRow): Promise<void> {
    await store.transact({ organization_id, user_id: null }, async (tx) => {
      const { session } = tx;
      const at = now();
      const row = await configs.findOne({ _id, is_active: true }, null, { session }).lean();
      if (!row || !shouldNotify(row, at)) return;
      const failed = await deliveries
        .find({ config_id: _id, notification_pending: true }, { event_type: 1, error: 1 }, { session })
        .sort({ _id: -1 })
        .limit(maxCounted)
        .lean();
      const [last] = failed;
      if (!last) return;
      const reported = { _id: { $in: failed.map((delivery) => delivery._id) } };
      await deliveries.updateMany(reported, { $unset: { notification_pending: 1 } }, { session });
      const webhook = { id: _id, name: row.name, created_by: row.created_by };
      if (shouldDisable(await getEndpointHealth(row, tx), at)) {
        await configs.updateOne({ _id }, { is_active: false, updated_at: at }, { session });
        tx.publish(WebhookDisabled, { webhook, reason: 'failing' });
        return;
      }
      // if the limit was reached, the next call reports the next thousand without waiting a minute
      if (failed.length < maxCounted) await configs.updateOne({ _id }, { notified_at: at }, { session });
      const { event_type, error } = last;
      tx.publish(WebhookExhausted, {
        webhook,
        failed: failed.length,
        last: { entry_id: last._id, event_type, error },
      });
    });
  }

  /** Reads the health of a webhook with two index lookups, independent of the size of the log. */
  async function getEndpointHealth(
    { _id, failures_counted_from, created_at }: ConfigRow,
    { session }: Transaction,
  ): Promise<EndpointHealth> {
    const from = failures_counted_from ?? created_at;
    const filter = { config_id: _id, event_type: { $ne: testType } };
    const success = await deliveries
      .findOne({ ...filter, status: 'delivered', created_at: { $gte: from } }, null, { session })
      .sort({ created_at: -1 })
      .lean();
    const since = { $gte: success?.created_at ?? from };
    const failure = await deliveries
      .findOne({ ...filter, status: 'failed', attempts: { $gt: 0 }, created_at: since }, null, { session })
      .sort({ created_at: 1 })
      .lean();
    return { delivered: success?.updated_at, firstFailed: failure?.created_at };
  }
}

export type Failures = ReturnType<typeof createFailures>;
