/** Postponing: what is due for an endpoint that does not answer waits until it is asked again, without using an attempt. */
import type { QueryFilter } from 'mongoose';
import type { Store } from '#libs/store';
import { type DeliveryRow, webhookDeliveries } from './collections.ts';

/** What never got through for so long has failed. */
const longestMs = 24 * 3_600_000;
/** Due times are spread over this share of the pause beyond it. */
const spread = 0.2;
const resumedWithinMs = 5_000;

const pipeline = { updatePipeline: true };

export type Postponing = ReturnType<typeof postponing>;

/** Moves the due times of an endpoint's rows; those that wait for a pause of their own, or are in hand, stay as they are. */
export function postponing(store: Store) {
  const rows = store.rows(webhookDeliveries);

  return {
    /** Has what is due wait for some ms; what is older than a day fails: gives how many. */
    async postpone(configId: string, ms: number): Promise<number> {
      const due = waiting(configId, { $lte: ['$due_at', '$$NOW'] });
      const tooOld = waiting(configId, {
        $and: [{ $lte: ['$due_at', '$$NOW'] }, { $lt: ['$created_at', { $subtract: ['$$NOW', longestMs] }] }],
      });
      const over = {
        status: 'failed',
        error: 'endpoint_unavailable',
        updated_at: '$$NOW',
        notification_pending: true,
      };
      const failing = [{ $set: over }, { $unset: ['due_at', 'postponed'] }];
      const { modifiedCount } = await rows.updateMany(tooOld, failing, pipeline);
      const later = { due_at: within(ms, ms * spread), postponed: true, updated_at: '$$NOW' };
      await rows.updateMany(due, [{ $set: later }], pipeline);
      return modifiedCount;
    },

    /** Has what was postponed be due soon, not all at once. */
    async resume(configId: string): Promise<void> {
      const postponed = { ...waiting(configId, { $gt: ['$due_at', '$$NOW'] }), postponed: true as const };
      const soon = { due_at: within(0, resumedWithinMs), updated_at: '$$NOW' };
      await rows.updateMany(postponed, [{ $set: soon }, { $unset: ['postponed'] }], pipeline);
    },
  };
}

function waiting(config_id: string, when: object): QueryFilter<DeliveryRow> {
  return { config_id, status: 'pending', due_at: { $exists: true }, $expr: when };
}

/** A moment from now on: after some ms, and up to so many later. */
function within(ms: number, spreadMs: number) {
  return { $add: ['$$NOW', ms, { $multiply: [{ $rand: {} }, spreadMs] }] };
}
