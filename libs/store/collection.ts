/** Collections: the MongoDB collections a service owns, declared with fields, indexes and sealed fields. */
import mongoose from 'mongoose';
import type { SealedField } from './sealed-field.ts';

/** An owned collection: its name, its mongoose schema with indexes, and its sealed fields. */
export interface Collection<Row extends { _id: string }> {
  readonly name: string;
  readonly schema: mongoose.Schema<Row>;
  readonly sealed: readonly SealedField<Row>[];
}

/** An index, in the notation of MongoDB's `createIndex`. */
export interface Index {
  readonly on: Record<string, 1 | -1 | 'text'>;
  readonly options?: mongoose.IndexOptions;
}

/** Creates the indexes of a collection in one command. Without changes it has no effect. */
export async function createIndexes(
  db: mongoose.mongo.Db,
  { name, schema }: { name: string; schema: Pick<mongoose.Schema, 'indexes'> },
): Promise<void> {
  const indexes = schema.indexes().map(([key, { background: _, ...options }]) => ({ key, ...options }));
  // the types of mongoose do not know that these are the options of the driver
  if (indexes.length > 0)
    await db.collection(name).createIndexes(indexes as mongoose.mongo.IndexDescription[]);
}

/** Declares an owned collection. Writing or querying a field that is not listed in `fields` throws. */
export function collection<Row extends { _id: string }>(
  name: string,
  {
    fields,
    indexes,
    sealed,
  }: {
    fields: mongoose.SchemaDefinition<Row>;
    indexes?: readonly Index[];
    sealed?: readonly SealedField<Row>[];
  },
): Collection<Row> {
  const schema = new mongoose.Schema<Row>(fields, {
    collection: name,
    strict: 'throw',
    strictQuery: 'throw',
    versionKey: false,
    id: false,
    minimize: false,
    autoIndex: false,
    autoCreate: false,
  });
  for (const index of indexes ?? []) schema.index(index.on, index.options);
  return { name, schema, sealed: sealed ?? [] };
}
