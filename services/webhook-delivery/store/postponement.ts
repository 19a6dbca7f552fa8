/** Postpones due deliveries of an endpoint while its circuit breaker is open, without using an attempt. */
import type { QueryFilter } from 'mongoose';
import type { Store } from '#libs/store';
import { type DeliveryRow, webhookDeliveries } from './collections.ts';

/** Deliveries older than this fail instead of being postponed. */
const maxAgeMs = 24 * 3_600_000;
/** Due times are spread over this share of the pause after its end. */
const spread = 0.2;
const resumeWithinMs = 5_000;

const pipeline = { updatePipeline: true };

export type Postponements = ReturnType<typeof createPostponements>;

/**
 * Creates the postponement of deliveries. Leased rows and rows that wait for their own retry delay do not
 * change.
 */
export function createPostponements(store: Store) {
  const rows = store.rows(webhookDeliveries);

  return {
    /** Postpones due rows by `ms`. Rows older than a day fail instead; returns their number. */
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
  };
}

function pendingWhere(config_id: string, condition: object): QueryFilter<DeliveryRow> {
  return { config_id, status: 'pending', due_at: { $exists: true }, $expr: condition };
}

/** Returns an expression for a random time from `ms` to `ms + spreadMs` after now, per row. */
function randomTimeAfter(ms: number, spreadMs: number) {
  return { $add: ['$$NOW', ms, { $multiply: [{ $rand: {} }, spreadMs] }] };
}
