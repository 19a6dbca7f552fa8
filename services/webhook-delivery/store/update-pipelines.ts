/** Writing: new rows of the log, on the server's time, due at once or in hand from the beginning. */
import mongoose from 'mongoose';
import { newId } from '#libs/contract';
import { isDuplicate, type Store, type Transaction } from '#libs/store';
import { shardOf } from '../rules/fair-scheduler.ts';
import { type DeliveryRow, webhookDeliveries } from './collections.ts';

/** What an entry is about. */
export type About = Pick<DeliveryRow, 'event_id' | 'event_type' | 'organization_id' | 'document_id'>;

/** Rows that a process has in hand when they are written; their first attempt is counted. */
export interface Lease {
  readonly token: string;
  readonly ids: ReadonlySet<string>;
  /** How long they are safe from the sweep. */
  readonly lockMs: number;
}

/** An entry of the log without how it goes on. */
export function entry({ event_id, event_type, organization_id, document_id }: About, at: Date) {
  const _id = newId();
  const what = { event_id, event_type, organization_id, document_id };
  return { _id, ...what, shard: shardOf(_id), created_at: at, updated_at: at };
}

/** A new row for what is to be told to a webhook, due at once. */
export function newDelivery(about: About, config_id: string, at: Date): DeliveryRow {
  const due = { status: 'pending' as const, due_at: at, attempts: 0, redeliverable: true };
  return { ...entry(about, at), ...due, http_status: null, duration_ms: null, error: null, config_id };
}

/** Writes new rows in a transaction. What is due is due at once, whatever the clock of this process says. */
export async function write(
  store: Pick<Store, 'rows'>,
  rows: readonly DeliveryRow[],
  { session }: Pick<Transaction, 'session'>,
): Promise<void> {
  await collectionOf(store).bulkWrite(rows.map(toUpsert()), { session });
}

/** Writes those of new rows that nobody has written before, and gives their ids. An event has one first row for each webhook. */
export async function writeMissing(
  store: Pick<Store, 'rows'>,
  rows: readonly DeliveryRow[],
  inHand?: Lease,
): Promise<ReadonlySet<string>> {
  const written = new Set(rows.map(({ _id }) => _id));
  try {
    await collectionOf(store).bulkWrite(rows.map(toUpsert(inHand)), { ordered: false });
  } catch (error) {
    if (!(error instanceof mongoose.mongo.MongoBulkWriteError)) throw error;
    const refused = [error.writeErrors].flat();
    const isKnown = error.result.getWriteConcernError() === undefined;
    if (!isKnown || refused.length === 0 || !refused.every(isDuplicate)) throw error;
    for (const { index } of refused) written.delete(rows[index]?._id ?? '');
  }
  return written;
}

function collectionOf(store: Pick<Store, 'rows'>) {
  return store.rows(webhookDeliveries).db.collection<DeliveryRow>(webhookDeliveries.name);
}

/** An insert knows nothing of the server's time, an upsert does. */
function toUpsert(inHand?: Lease) {
  return ({ due_at: _, ...row }: DeliveryRow) => {
    const scheduled = inHand?.ids.has(row._id) ? leaseFields(inHand) : { due_at: '$$NOW' };
    const update = [{ $replaceWith: { $mergeObjects: [{ $literal: row }, scheduled] } }];
    return { updateOne: { filter: { _id: row._id }, update, upsert: true } };
  };
}

function leaseFields({ token, lockMs }: Lease) {
  return { attempts: 1, lock_token: token, locked_until: { $add: ['$$NOW', lockMs] } };
}
