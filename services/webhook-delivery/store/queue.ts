/**
 * The deliveries as a queue in MongoDB. Every step is one atomic update of each row on the server's time, and the steps
 * after a claim are fenced by its token: claim → count → finish (or give back); the sweep frees what a dead process held.
 */
import type { QueryFilter } from 'mongoose';
import { newId } from '#libs/contract';
import type { Store } from '#libs/store';
import { maxAttempts, type Verdict } from '../rules/backoff.ts';
import type { Candidate } from '../rules/fair-scheduler.ts';
import { type DeliveryRow, type EventRow, webhookDeliveries, webhookEvents } from './collections.ts';

/** A row that this process has in hand. */
export type Claimed = Pick<
  DeliveryRow,
  '_id' | 'event_id' | 'event_type' | 'config_id' | 'organization_id' | 'attempts' | 'is_first'
> & { lock_token: string };

/** What is told of an event. */
export type StoredEvent = Pick<EventRow, 'body' | 'occurred_at' | 'trace'>;

/** How a row that is in hand ended, for now or for good. */
export interface Finished {
  readonly row: Pick<Claimed, '_id' | 'lock_token'>;
  readonly result: Result;
}

/** How one attempt ended. */
export interface Result {
  readonly verdict: Verdict;
  readonly http_status: number | null;
  readonly duration_ms: number | null;
  readonly error: string | null;
}

const mostCounted = 10_000;
const pipeline = { updatePipeline: true };
const release = { $unset: ['lock_token', 'locked_until'] };
const isDue: QueryFilter<DeliveryRow> = {
  due_at: { $exists: true },
  $expr: { $lte: ['$due_at', '$$NOW'] },
};
const isAbandoned: QueryFilter<DeliveryRow> = {
  status: 'pending',
  locked_until: { $exists: true },
  $expr: { $lte: ['$locked_until', '$$NOW'] },
};

/** The queue of deliveries. `lockMs`: how long a claimed row is safe from the sweep, from its claim and again from its request. */
export function queue(store: Store, lockMs: number) {
  const rows = store.rows(webhookDeliveries);
  const events = store.rows(webhookEvents);

  return {
    /** Due rows of some shards, the longest due first, except those for some endpoints. */
    async due({
      shards,
      without,
      limit,
    }: {
      shards: readonly number[];
      without: readonly string[];
      limit: number;
    }): Promise<Candidate[]> {
      const filter: QueryFilter<DeliveryRow> = { ...isDue, shard: { $in: shards } };
      if (without.length > 0) filter.config_id = { $nin: without };
      const fields = { _id: 1, config_id: 1, organization_id: 1 } as const;
      return rows.find(filter, fields).sort({ due_at: 1 }).limit(limit).lean();
    },

    /**
     * Takes rows in hand, as far as nobody else did. Read back as the majority knows them: what a failing primary may
     * still roll back is never sent.
     */
    async claim(ids: readonly string[], token: string): Promise<Claimed[]> {
      const mine = { ...isDue, _id: { $in: ids } };
      const lock = { lock_token: token, locked_until: after(lockMs), updated_at: '$$NOW' };
      await rows.updateMany(mine, [{ $set: lock }, { $unset: ['due_at', 'postponed'] }], pipeline);
      const fields = {
        event_id: 1,
        event_type: 1,
        config_id: 1,
        organization_id: 1,
        attempts: 1,
        is_first: 1,
      };
      const claimed = await rows
        .find({ _id: { $in: ids }, lock_token: token }, fields)
        .readConcern('majority')
        .lean();
      return claimed.map((row) => ({ ...row, lock_token: token }));
    },

    /**
     * Counts an attempt of each just before their requests, and renews the locks. Gives those whose claim was valid, under
     * the token of this very count.
     */
    async count(claimed: readonly Claimed[]): Promise<Claimed[]> {
      const alike = Map.groupBy(claimed, ({ lock_token, attempts }) => `${lock_token} ${attempts}`);
      return (await Promise.all([...alike.values()].map(countAlike))).flat();
    },

    /** Records how attempts ended; nothing happens where the claim is not valid any more. */
    async finish(finished: readonly Finished[]): Promise<void> {
      if (finished.length === 0) return;
      const collection = rows.db.collection<DeliveryRow>(webhookDeliveries.name);
      await collection.bulkWrite(finished.map(recordOf), { ordered: false });
    },

    /** Gives rows back that were not sent, due at once. */
    async giveBack(claimed: readonly Claimed[]): Promise<void> {
      const tokens = [...new Set(claimed.map(({ lock_token }) => lock_token))];
      const mine = { _id: { $in: claimed.map(({ _id }) => _id) }, lock_token: { $in: tokens } };
      await rows.updateMany(mine, [{ $set: { due_at: '$$NOW' } }, release], pipeline);
    },

    /** Frees what was in the hands of a process that died: due again, or failed when its attempts are used up; gives how many failed. */
    async sweep(): Promise<number> {
      const over = {
        status: 'failed',
        error: 'interrupted',
        updated_at: '$$NOW',
        notification_pending: true,
      };
      const usedUp = { ...isAbandoned, attempts: { $gte: maxAttempts } };
      const { modifiedCount } = await rows.updateMany(usedUp, [{ $set: over }, release], pipeline);
      await rows.updateMany(
        isAbandoned,
        [{ $set: { due_at: '$$NOW', updated_at: '$$NOW' } }, release],
        pipeline,
      );
      return modifiedCount;
    },

    /** What is due and in nobody's hands: how many, of which 10,000 stand for as many or more, and for how long the oldest. */
    async backlog(): Promise<{ count: number; oldestSeconds: number }> {
      const [found] = await rows.aggregate<{ count: number; oldest: Date; now: Date }>([
        { $match: isDue },
        { $limit: mostCounted },
        { $group: { _id: null, count: { $sum: 1 }, oldest: { $min: '$due_at' }, now: { $max: '$$NOW' } } },
      ]);
      if (!found) return { count: 0, oldestSeconds: 0 };
      return { count: found.count, oldestSeconds: (found.now.getTime() - found.oldest.getTime()) / 1000 };
    },

    /** What is told of events, by event id. */
    async bodies(eventIds: readonly string[]): Promise<Map<string, StoredEvent>> {
      const found = await events
        .find({ _id: { $in: [...new Set(eventIds)] } }, { body: 1, occurred_at: 1, trace: 1 })
        .readConcern('majority')
        .lean();
      return new Map(found.map(({ _id, ...kept }) => [_id, kept]));
    },
  };

  /** Counts rows of one claim with as many attempts behind them. */
  async function countAlike(alike: readonly Claimed[]): Promise<Claimed[]> {
    const [{ lock_token, attempts } = { lock_token: '', attempts: maxAttempts }] = alike;
    const ids = alike.map(({ _id }) => _id);
    const mine = { _id: { $in: ids }, lock_token, attempts: { $eq: attempts, $lt: maxAttempts } };
    const token = newId();
    const counted = {
      attempts: { $add: ['$attempts', 1] },
      lock_token: token,
      locked_until: after(lockMs),
      updated_at: '$$NOW',
    };
    const { modifiedCount } = await rows.updateMany(mine, [{ $set: counted }], pipeline);
    const now = alike.map((row) => ({ ...row, attempts: attempts + 1, lock_token: token }));
    if (modifiedCount === ids.length) return now;
    const valid = await rows.find({ _id: { $in: ids }, lock_token: token }, { _id: 1 }).lean();
    const those = new Set(valid.map(({ _id }) => _id));
    return now.filter(({ _id }) => those.has(_id));
  }
}

export type Queue = ReturnType<typeof queue>;

function after(ms: number) {
  return { $add: ['$$NOW', ms] };
}

/** One update of a batch. */
function recordOf({ row: { _id, lock_token }, result: { verdict, ...seen } }: Finished) {
  const outcome = {
    status: verdict.status,
    http_status: seen.http_status,
    duration_ms: seen.duration_ms,
    error: { $literal: seen.error },
    updated_at: '$$NOW',
    ...(verdict.status === 'pending' && { due_at: after(verdict.delayMs) }),
    // what could not be sent at all took no time
    ...(verdict.status === 'failed' && seen.duration_ms !== null && { notification_pending: true }),
  };
  return { updateOne: { filter: { _id, lock_token }, update: [{ $set: outcome }, release] } };
}
