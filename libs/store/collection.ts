/** Collections: what a service owns in MongoDB, declared once with fields and indexes. */
import mongoose from 'mongoose';
import type { SealedField } from './sealed-field.ts';

/** An owned collection: name, fields as mongoose knows them, indexes, and which fields are sealed. */
export interface Collection<Row extends { _id: string }> {
  readonly name: string;
  readonly schema: mongoose.Schema<Row>;
  readonly sealed: readonly SealedField<Row>[];
}

export interface Index {
  readonly on: Record<string, 1 | -1 | 'text'>;
  readonly options?: mongoose.IndexOptions;
}

/** Declares an owned collection. Rows hold exactly these fields; a query for another field throws. */
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
