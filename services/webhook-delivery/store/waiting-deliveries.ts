/** Postpones or fails deliveries that wait for an attempt. Leased rows do not change. */
import type { QueryFilter } from 'mongoose';
import { type Store, type Transaction, toSessionOptions } from '#libs/store';
import { type DeliveryRow, webhookDeliveries } from './collections.ts';

/** Deliveries older than this fail instead of being postponed. */
const maxAgeMs = 24 * 3_600_000;
/** Due times are spread over this share of the pause after its end. */
const spread = 0.2;
const resumeWithinMs = 5_000;

const pipeline = { updatePipeline: true };

export type WaitingDeliveries = ReturnType<typeof createWaitingDeliveries>;

/** Creates the repository of waiting deliveries. */
export function createWaitingDeliveries(store: Store) {
  const rows = store.rows(webhookDeliveries);

  return {
    /**
     * Postpones due rows by `ms` without using an attempt. Rows that wait for their retry delay do not change. Rows
     * older than a day fail instead; returns their number.
     */
    async postpone(configId: string, ms: number): Promise<number> {
      const due = pendingWhere(configId, { $lte: ['$due_at', '$$NOW'] });
      const tooOld = pendingWhere(configId, {
        $and: [{ $lte: ['$due_at', '$$NOW'] }, { $lt: ['$created_at', { $subtract: ['$$NOW', maxAgeMs] }] }],
      });
      const failed = {
        status: 'failed',
        error: 'endpoint_unavailable',
        updated_at: '$$NOW',
        notification_pending: true,
      };
      const fail = [{ $set: failed }, { $unset: ['due_at', 'postponed'] }];
      const { modifiedCount } = await rows.updateMany(tooOld, fail, pipeline);
      const postponed = { due_at: randomTimeAfter(ms, ms * spread), postponed: true, updated_at: '$$NOW' };
      await rows.updateMany(due, [{ $set: postponed }], pipeline);
      return modifiedCount;
    },

    /** Makes postponed rows due at random times within the next 5 seconds. */
    async resume(configId: string): Promise<void> {
      const postponed = {
        ...pendingWhere(configId, { $gt: ['$due_at', '$$NOW'] }),
        postponed: true as const,
      };
      const resumed = { due_at: randomTimeAfter(0, resumeWithinMs), updated_at: '$$NOW' };
      await rows.updateMany(postponed, [{ $set: resumed }, { $unset: ['postponed'] }], pipeline);
    },

    /** Fails the deliveries to a deleted webhook that wait for an attempt. Returns their number. */
    async failWaiting(config_id: string, tx?: Transaction): Promise<number> {
      const waiting = { config_id, status: 'pending' as const, due_at: { $exists: true } };
      const failed = { status: 'failed', error: 'webhook_deleted', updated_at: '$$NOW' };
      const update = [{ $set: failed }, { $unset: ['due_at', 'postponed'] }];
      const options = { ...pipeline, ...toSessionOptions(tx) };
      return (await rows.updateMany(waiting, update, options)).modifiedCount;
    },
  };
}

function pendingWhere(config_id: string, condition: object): QueryFilter<DeliveryRow> {
  return { config_id, status: 'pending', due_at: { $exists: true }, $expr: condition };
}

/** Returns an expression for a random time from `ms` to `ms + spreadMs` after now, per row. */
function randomTimeAfter(ms: number, spreadMs: number) {
  return { $add: ['$$NOW', ms, { $multiply: [{ $rand: {} }, spreadMs] }] };
}
