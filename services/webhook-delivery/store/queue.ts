/**
 * The queue of deliveries in MongoDB: claim → finish (or release). Each step is one atomic update per row on the
 * server's clock. All steps after the claim are fenced by its lock token. The sweep unlocks rows of dead
 * processes.
 */
import type { PipelineStage, QueryFilter } from 'mongoose';
import type { Store } from '#libs/store';
import { maxAttempts, type RetryDecision } from '../rules/backoff.ts';
import type { Candidate } from '../rules/dynamic-threshold-scheduler.ts';
import { shardCount } from '../rules/shards.ts';
import {
  type DeliveryRow,
  type EventRow,
  type LoggedAttempt,
  webhookDeliveries,
  webhookEvents,
} from './collections.ts';

/** A row that this process has leased. */
export type ClaimedRow = Pick<
  DeliveryRow,
  '_id' | 'event_id' | 'event_type' | 'config_id' | 'organization_id' | 'attempts' | 'is_first'
> & { lock_token: string };

/** The stored payload of an event. */
export type StoredEvent = Pick<EventRow, 'body' | 'occurred_at'> & { readonly trace?: string | undefined };

/** A claimed row with the result of its attempt. */
export interface Outcome {
  readonly row: Pick<ClaimedRow, '_id' | 'lock_token' | 'attempts'>;
  readonly result: AttemptResult;
}

/** The result of one attempt, and what follows it. */
export interface AttemptResult {
  readonly decision: RetryDecision;
  readonly http_status: number | null;
  readonly duration_ms: number | null;
  readonly error: string | null;
  /** The details of the request for the event log; absent if none was sent. */
  readonly request?: LoggedRequest;
}

/** The details of a request, which only the event log needs. */
export type LoggedRequest = Readonly<
  Pick<LoggedAttempt, 'started_at' | 'traceparent' | 'response' | 'response_withheld'>
>;

/** Which due rows to find. */
export interface Search {
  readonly shards: readonly number[];
  /** Endpoints whose rows are left out. */
  readonly without: readonly string[];
  readonly limit: number;
}

const maxBacklog = 10_000;
const pipeline = { updatePipeline: true };
const unlock = { $unset: ['lock_token', 'locked_until'] };
const dueFilter: QueryFilter<DeliveryRow> = {
  due_at: { $exists: true },
  $expr: { $lte: ['$due_at', '$$NOW'] },
};
const abandonedFilter: QueryFilter<DeliveryRow> = {
  status: 'pending',
  locked_until: { $exists: true },
  $expr: { $lte: ['$locked_until', '$$NOW'] },
};

const interrupted = {
  status: 'failed',
  error: 'interrupted',
  updated_at: '$$NOW',
  notification_pending: true,
};
const oldestStages: PipelineStage[] = [
  // with all shards, the index gives the rows of each shard in order, and MongoDB merges them
  {
    $match: {
      due_at: { $exists: true },
      shard: { $in: Array.from({ length: shardCount }, (_, shard) => shard) },
    },
  },
  { $sort: { due_at: 1 } },
  { $limit: 1 },
  { $project: { seconds: { $divide: [{ $subtract: ['$$NOW', '$due_at'] }, 1000] } } },
];
const claimedFields = {
  event_id: 1,
  event_type: 1,
  config_id: 1,
  organization_id: 1,
  attempts: 1,
  is_first: 1,
} as const;

/** Creates the queue. `lockMs` is how long a row stays locked after its claim. */
export function createQueue(store: Store, lockMs: number) {
  const rows = store.rows(webhookDeliveries);
  const driver = store.collection(webhookDeliveries);
  const events = store.rows(webhookEvents);

  return {
    /** Returns due rows of some shards, earliest due first, except those of the endpoints in `without`. */
    async findDue({ shards, without, limit }: Search): Promise<Candidate[]> {
      const filter: QueryFilter<DeliveryRow> = { ...dueFilter, shard: { $in: shards } };
      if (without.length > 0) filter.config_id = { $nin: without };
      const fields = { _id: 1, config_id: 1, organization_id: 1 } as const;
      return rows.find(filter, fields).sort({ due_at: 1 }).limit(limit).lean();
    },

    /**
     * Claims due rows, counts their next attempts and returns the rows that this call claimed. Reads them back
     * with majority read concern, so that a claim that a failover may roll back is never sent.
     */
    async claim(ids: readonly string[], token: string): Promise<ClaimedRow[]> {
      const filter = { ...dueFilter, _id: { $in: ids }, attempts: { $lt: maxAttempts } };
      const { modifiedCount } = await rows.updateMany(filter, toClaim(token, lockMs), pipeline);
      // other replicas were faster
      if (modifiedCount === 0) return [];
      const claimed = await rows
        .find({ _id: { $in: ids }, lock_token: token }, claimedFields)
        .readConcern('majority')
        .lean();
      return claimed.map((row) => ({ ...row, lock_token: token }));
    },

    /** Records outcomes and unlocks the rows. Rows whose claim is no longer valid do not change. */
    async finish(outcomes: readonly Outcome[]): Promise<void> {
      if (outcomes.length === 0) return;
      await driver.bulkWrite(outcomes.map(toUpdate), { ordered: false });
    },

    /** Unlocks rows that a claim locked and that were not sent: they lose no attempt and are due at once. */
    async release(ids: readonly string[], token: string): Promise<void> {
      const released = { attempts: { $subtract: ['$attempts', 1] }, due_at: '$$NOW' };
      await rows.updateMany({ _id: { $in: ids }, lock_token: token }, [{ $set: released }, unlock], pipeline);
    },

    /**
     * Unlocks rows whose lock expired because their process died. They are due at once, or failed if they
     * have no attempts left. Returns the number of failed rows.
     */
    async sweep(): Promise<number> {
      const exhausted = { ...abandonedFilter, attempts: { $gte: maxAttempts } };
      const { modifiedCount } = await rows.updateMany(exhausted, [{ $set: interrupted }, unlock], pipeline);
      const due = { due_at: '$$NOW', updated_at: '$$NOW' };
      // a last lock that expires between the two updates waits for the next sweep: no claim takes such a row
      const retryable = { ...abandonedFilter, attempts: { $lt: maxAttempts } };
      await rows.updateMany(retryable, [{ $set: due }, unlock], pipeline);
      return modifiedCount;
    },

    /** Returns the number of due rows, at most 10,000. */
    async countDue(): Promise<number> {
      const stages: PipelineStage[] = [{ $match: dueFilter }, { $limit: maxBacklog }, { $count: 'count' }];
      const [found] = await rows.aggregate<{ count: number }>(stages);
      return found?.count ?? 0;
    },

    /** Returns how long the oldest due row has been due, seconds. 0 if none is due. */
    async getOldestDueSeconds(): Promise<number> {
      const [oldest] = await rows.aggregate<{ seconds: number }>(oldestStages);
      return Math.max(0, oldest?.seconds ?? 0);
    },

    /** Returns stored events by event id. */
    async getEvents(eventIds: readonly string[]): Promise<Map<string, StoredEvent>> {
      const found = await events
        .find({ _id: { $in: [...new Set(eventIds)] } }, { body: 1, occurred_at: 1, trace: 1 })
        .readConcern('majority')
        .lean();
      return new Map(found.map(({ _id, ...event }) => [_id, event]));
    },
  };
}

export type Queue = ReturnType<typeof createQueue>;

function addToNow(ms: number) {
  return { $add: ['$$NOW', ms] };
}

function toClaim(token: string, lockMs: number) {
  const claim = {
    attempts: { $add: ['$attempts', 1] },
    lock_token: token,
    locked_until: addToNow(lockMs),
    updated_at: '$$NOW',
  };
  return [{ $set: claim }, { $unset: ['due_at', 'postponed'] }];
}

function toUpdate({ row: { _id, lock_token, attempts }, result }: Outcome) {
  const { decision, request, ...response } = result;
  // without a duration no request was sent: that is no attempt, and such failures are not reported
  const wasSent = response.duration_ms !== null;
  const set = {
    status: decision.status,
    attempts: wasSent ? attempts : attempts - 1,
    // those of the last request stay
    ...(wasSent && { http_status: response.http_status, duration_ms: response.duration_ms }),
    error: { $literal: response.error },
    updated_at: '$$NOW',
    ...(decision.status === 'pending' && { due_at: addToNow(decision.delayMs) }),
    ...(decision.status === 'failed' && wasSent && { notification_pending: true }),
    ...(request && { attempt_log: appendToLog({ attempt: attempts, ...response, ...request }) }),
  };
  return { updateOne: { filter: { _id, lock_token }, update: [{ $set: set }, unlock] } };
}

function appendToLog(attempt: object) {
  // the receiver may have sent texts that look like expressions
  return { $concatArrays: [{ $ifNull: ['$attempt_log', []] }, [{ $literal: attempt }]] };
}
