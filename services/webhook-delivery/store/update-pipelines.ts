/** Inserts deliveries, due at once on the server's clock. */
import mongoose from 'mongoose';
import { newId } from '#libs/contract';
import { isDuplicate, type Store, type Transaction } from '#libs/store';
import { toShard } from '../rules/shards.ts';
import { type DeliveryRow, webhookDeliveries } from './collections.ts';

/** The event that an entry belongs to. */
export type EventRef = Pick<DeliveryRow, 'event_id' | 'event_type' | 'organization_id' | 'document_id'>;

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
  await getCollection(store).bulkWrite(rows.map(toUpsert), { session });
}

/**
 * Inserts the deliveries that do not exist yet and returns them. An event has one first delivery per webhook
 * (unique index). They are due at once on the server's clock, regardless of `due_at`.
 */
export async function insertMissing(
  store: Pick<Store, 'rows'>,
  rows: readonly DeliveryRow[],
): Promise<DeliveryRow[]> {
  try {
    await getCollection(store).bulkWrite(rows.map(toUpsert), { ordered: false });
    return [...rows];
  } catch (error) {
    if (!(error instanceof mongoose.mongo.MongoBulkWriteError)) throw error;
    const writeErrors = [error.writeErrors].flat();
    const isMajority = error.result.getWriteConcernError() === undefined;
    if (!isMajority || writeErrors.length === 0 || !writeErrors.every(isDuplicate)) throw error;
    const duplicates = new Set(writeErrors.map(({ index }) => index));
    return rows.filter((_, index) => !duplicates.has(index));
  }
}

function getCollection(store: Pick<Store, 'rows'>) {
  return store.rows(webhookDeliveries).db.collection<DeliveryRow>(webhookDeliveries.name);
}

/** `$$NOW` is only available in update pipelines, so new rows are written as upserts. */
function toUpsert({ due_at: _, ...row }: DeliveryRow) {
  const update = [{ $replaceWith: { $mergeObjects: [{ $literal: row }, { due_at: '$$NOW' }] } }];
  return { updateOne: { filter: { _id: row._id }, update, upsert: true } };
}
