/** Changes of rows that break an invariant. Each change returns the id that must be reported. */
import type mongoose from 'mongoose';
import { newId } from '#libs/contract';

type Db = mongoose.mongo.Db;

/** A row of any collection. Its id is a string, except in GridFS. */
export type Row = Record<string, unknown> & { _id: string };

/** Fields or conditions of rows. */
export type Fields = Record<string, unknown>;

/** Breaks an invariant and returns the id in its report. */
export type Break = (db: Db) => Promise<string>;

/** Breaks of several invariants, by their names. */
export type Breaks = Readonly<Record<string, readonly Break[]>>;

/** The id of a row that does not exist. */
export const nobody = newId();

/** Another organization, which does not exist. */
export const stranger = { organization_id: newId() };

/** Longer ago than the grace period, and within the time in which an event is kept. */
export const yesterday = new Date(Date.now() - 86_400_000);

/** Changes the first row that matches. */
export function change(collection: string, filter: Fields, update: Fields): Break {
  return async (db) => {
    const { _id } = await findFirst(db, collection, filter);
    await getRows(db, collection).updateOne({ _id }, update);
    return String(_id);
  };
}

/** Sets fields of the first row that matches. */
export function set(collection: string, fields: Fields, filter: Fields = {}): Break {
  return change(collection, filter, { $set: fields });
}

/** Deletes the first row that matches. The given field of it is reported. */
export function remove(collection: string, filter: Fields = {}, reported = '_id'): Break {
  return async (db) => {
    const row = await findFirst(db, collection, filter);
    await getRows(db, collection).deleteOne({ _id: row._id });
    return String(row[reported]);
  };
}

/** Inserts a copy of the first row that matches, with other values of these fields. */
export function copy(collection: string, fields: Fields & { _id: string }, filter: Fields = {}): Break {
  return async (db) => {
    await getRows(db, collection).insertOne({ ...(await findFirst(db, collection, filter)), ...fields });
    return fields._id;
  };
}

/** Finds the first row that matches. Rejects if there is none. */
export async function findFirst(db: Db, collection: string, filter: Fields = {}): Promise<Row> {
  const row = await getRows(db, collection).findOne(filter, { sort: { _id: 1 } });
  if (!row) throw new Error(`${collection} has no row with ${JSON.stringify(filter)}`);
  return row;
}

/** The rows of a collection, which may have any ids and fields. */
export function getRows(db: Db, collection: string) {
  return db.collection<Row>(collection);
}
