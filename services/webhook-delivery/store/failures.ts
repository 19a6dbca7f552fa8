/** Failed deliveries in MongoDB: which ones have not been reported, and since when a webhook fails. */
import { type Store, type Transaction, toSessionOptions } from '#libs/store';
import type { EndpointHealth } from '../rules/endpoint-health.ts';
import { testType } from '../rules/redelivery.ts';
import { type ConfigRow, type DeliveryRow, webhookConfigs, webhookDeliveries } from './collections.ts';

/** A failed delivery in a report. */
export type FailedDelivery = Pick<DeliveryRow, '_id' | 'event_type' | 'error'>;

/** Creates the repository of failed deliveries. */
export function createFailures(store: Store) {
  const configs = store.rows(webhookConfigs);
  const deliveries = store.rows(webhookDeliveries);

  return {
    /** Returns the ids of all webhooks with failures that have not been reported. */
    findUnreported: (): Promise<string[]> => deliveries.distinct('config_id', { notification_pending: true }),

    /** Returns the active ones of these webhooks. */
    findActive: (ids: readonly string[], tx?: Transaction): Promise<ConfigRow[]> =>
      configs.find({ _id: { $in: ids }, is_active: true }, null, toSessionOptions(tx)).lean(),

    /** Marks all failures of these webhooks as reported. */
    async discard(configIds: readonly string[]): Promise<void> {
      const filter = { config_id: { $in: configIds }, notification_pending: true as const };
      await deliveries.updateMany(filter, { $unset: { notification_pending: 1 } });
    },

    /** Marks the newest failures of a webhook as reported, at most `limit`, and returns them, newest first. */
    async takeUnreported(
      config_id: string,
      limit: number,
      { session }: Transaction,
    ): Promise<FailedDelivery[]> {
      const failed = await deliveries
        .find({ config_id, notification_pending: true }, { event_type: 1, error: 1 }, { session })
        .sort({ _id: -1 })
        .limit(limit)
        .lean();
      const byId = { _id: { $in: failed.map(({ _id }) => _id) } };
      await deliveries.updateMany(byId, { $unset: { notification_pending: 1 } }, { session });
      return failed;
    },

    /** Records when the last notification about a webhook was published. */
    async setNotified(_id: string, notified_at: Date, { session }: Transaction): Promise<void> {
      await configs.updateOne({ _id }, { notified_at }, { session });
    },

    /** Reads the health of a webhook with two index lookups, independent of the size of the log. */
    async getHealth(
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
    },
  };
}

export type Failures = ReturnType<typeof createFailures>;
