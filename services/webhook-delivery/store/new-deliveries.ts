/** Inserts events and their deliveries, which are due at once on the server's clock. */
import mongoose from 'mongoose';
import { newId } from '#libs/contract';
import { isDuplicate, type Store, type Transaction } from '#libs/store';
import { toShard } from '../rules/shards.ts';
import { type DeliveryRow, type EventRow, webhookDeliveries, webhookEvents } from './collections.ts';

/** The event that an entry belongs to. */
export type EventRef = Pick<DeliveryRow, 'event_id' | 'event_type' | 'organization_id' | 'document_id'>;

/** An event with its body. */
export type NewEvent = Readonly<EventRef> & {
  readonly body: string;
  readonly occurred_at?: Date;
  readonly trace?: string | undefined;
};

/** Deliveries that a process claims while it inserts them. */
export interface Claim {
  readonly token: string;
  readonly ids: ReadonlySet<string>;
}

const dueAtOnce = { due_at: '$$NOW' };

/** Creates the writer of new deliveries. `lockMs` is how long a claimed row stays locked. */
export function createNewDeliveries(store: Store, now: () => Date, lockMs: number) {
  const rows = store.rows(webhookDeliveries);
  const events = store.rows(webhookEvents);

  return {
    /**
     * Inserts an event with its recipients, unless the log already has it. Returns a first delivery for each
     * recipient that has none yet. They are not stored yet.
     *
     * Event and deliveries need no transaction: the event names its recipients, and if it is repeated, the missing
     * deliveries are inserted. Each step is majority-committed before the next.
     */
    async insertEvent(event: NewEvent, recipientIds: readonly string[]): Promise<DeliveryRow[]> {
      const at = now();
      const row = { ...toEventRow(event, at), recipient_ids: [...recipientIds] };
      const missing = (await insertOnce(row)) ? recipientIds : await findMissing(row._id, recipientIds);
      return missing.map((id) => ({ ...createDelivery(event, id, at), is_first: true as const }));
    },

    /**
     * Inserts the deliveries that do not exist yet and returns them: those in `claim` as claimed, with their first
     * attempt counted, and the others as due at once on the server's clock. An event has one first delivery per
     * webhook (unique index).
     */
    async insertMissing(newRows: readonly DeliveryRow[], claim: Claim): Promise<DeliveryRow[]> {
      const toSchedule = ({ _id }: DeliveryRow) =>
        claim.ids.has(_id)
          ? { attempts: 1, lock_token: claim.token, locked_until: { $add: ['$$NOW', lockMs] } }
          : dueAtOnce;
      try {
        const upserts = newRows.map((row) => toUpsert(row, toSchedule(row)));
        await store.collection(webhookDeliveries).bulkWrite(upserts, { ordered: false });
        return [...newRows];
      } catch (error) {
        if (!(error instanceof mongoose.mongo.MongoBulkWriteError)) throw error;
        const writeErrors = [error.writeErrors].flat();
        const isMajority = error.result.getWriteConcernError() === undefined;
        if (!isMajority || writeErrors.length === 0 || !writeErrors.every(isDuplicate)) throw error;
        const duplicates = new Set(writeErrors.map(({ index }) => index));
        return newRows.filter((_, index) => !duplicates.has(index));
      }
    },
  };

  /** Inserts an event. Returns false if it already exists. */
  async function insertOnce(event: EventRow): Promise<boolean> {
    try {
      await events.insertMany([event], { lean: true });
      return true;
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }

  /** Returns the receivers that are recipients of a logged event and have no delivery of it yet. */
  async function findMissing(event_id: string, receiverIds: readonly string[]): Promise<string[]> {
    const [event, deliveries] = await Promise.all([
      events.findOne({ _id: event_id }, { recipient_ids: 1 }).lean(),
      // a delivery that is not majority-committed may be rolled back; inserting it again waits for the commit
      rows.find({ event_id, is_first: true }, { config_id: 1 }).readConcern('majority').lean(),
    ]);
    const existingIds = new Set(deliveries.map(({ config_id }) => config_id));
    return receiverIds.filter((id) => event?.recipient_ids?.includes(id) && !existingIds.has(id));
  }
}

export type NewDeliveries = ReturnType<typeof createNewDeliveries>;

/** Creates the row of an event. */
export function toEventRow(
  { event_id, organization_id, body, occurred_at, trace }: NewEvent,
  at: Date,
): EventRow {
  const origin = { ...(occurred_at && { occurred_at }), ...(trace !== undefined && { trace }) };
  return { _id: event_id, organization_id, body, ...origin, created_at: at };
}

/** Creates the fields that all log entries share, with a new id. */
export function createEntry({ event_id, event_type, organization_id, document_id }: EventRef, at: Date) {
  const _id = newId();
  const event = { event_id, event_type, organization_id, document_id };
  return { _id, ...event, shard: toShard(_id), created_at: at, updated_at: at };
}

/** Creates the row of a new delivery to a webhook, due at once. */
export function createDelivery(event: EventRef, config_id: string, at: Date): DeliveryRow {
  const due = { status: 'pending' as const, due_at: at, attempts: 0, redeliverable: true };
  return { ...createEntry(event, at), ...due, http_status: null, duration_ms: null, error: null, config_id };
}

/**
 * Inserts deliveries in a transaction. They are due at once on the server's clock, regardless of `due_at`.
 */
export async function insertDeliveries(
  store: Pick<Store, 'collection'>,
  rows: readonly DeliveryRow[],
  { session }: Pick<Transaction, 'session'>,
): Promise<void> {
  await store.collection(webhookDeliveries).bulkWrite(
    rows.map((row) => toUpsert(row, dueAtOnce)),
    { session },
  );
}

/** `$$NOW` is only available in update pipelines, so new rows are written as upserts. */
function toUpsert({ due_at: _, ...row }: DeliveryRow, schedule: object) {
  const update = [{ $replaceWith: { $mergeObjects: [{ $literal: row }, schedule] } }];
  return { updateOne: { filter: { _id: row._id }, update, upsert: true } };
}
