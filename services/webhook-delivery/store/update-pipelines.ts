/** Inserts deliveries on the server's clock, either due at once or already leased. */
import mongoose from 'mongoose';
import { newId } from '#libs/contract';
import { isDuplicate, type Store, type Transaction } from '#libs/store';
import { toShard } from '../rules/shards.ts';
import { type DeliveryRow, webhookDeliveries } from './collections.ts';

/** The event that an entry belongs to. */
export type EventRef = Pick<DeliveryRow, 'event_id' | 'event_type' | 'organization_id' | 'document_id'>;

/** Deliveries that are inserted as leased, with their first attempt counted. */
export interface Lease {
  readonly token: string;
  readonly ids: ReadonlySet<string>;
  /** How long the rows are protected from the sweep, ms. */
  readonly lockMs: number;
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
  store: Pick<Store, 'rows'>,
  rows: readonly DeliveryRow[],
  { session }: Pick<Transaction, 'session'>,
): Promise<void> {
  await getCollection(store).bulkWrite(rows.map(toUpsert()), { session });
}

/**
 * Inserts the deliveries that do not exist yet and returns their ids. An event has one first delivery per
 * webhook (unique index). Rows in `lease` are inserted as leased.
 */
export async function insertMissing(
  store: Pick<Store, 'rows'>,
  rows: readonly DeliveryRow[],
  lease?: Lease,
): Promise<ReadonlySet<string>> {
  const insertedIds = new Set(rows.map(({ _id }) => _id));
  try {
    await getCollection(store).bulkWrite(rows.map(toUpsert(lease)), { ordered: false });
  } catch (error) {
    if (!(error instanceof mongoose.mongo.MongoBulkWriteError)) throw error;
    const writeErrors = [error.writeErrors].flat();
    const isMajority = error.result.getWriteConcernError() === undefined;
    if (!isMajority || writeErrors.length === 0 || !writeErrors.every(isDuplicate)) throw error;
    for (const { index } of writeErrors) insertedIds.delete(rows[index]?._id ?? '');
  }
  return insertedIds;
}

function getCollection(store: Pick<Store, 'rows'>) {
  return store.rows(webhookDeliveries).db.collection<DeliveryRow>(webhookDeliveries.name);
}

/** `$$NOW` is only available in update pipelines, so new rows are written as upserts. */
function toUpsert(lease?: Lease) {
  return ({ due_at: _, ...row }: DeliveryRow) => {
    const schedule = lease?.ids.has(row._id) ? toLeaseFields(lease) : { due_at: '$$NOW' };
    const update = [{ $replaceWith: { $mergeObjects: [{ $literal: row }, schedule] } }];
    return { updateOne: { filter: { _id: row._id }, update, upsert: true } };
  };
}

function toLeaseFields({ token, lockMs }: Lease) {
  return { attempts: 1, lock_token: token, locked_until: { $add: ['$$NOW', lockMs] } };
}
