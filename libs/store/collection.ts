/** Collections: the MongoDB collections a service owns, declared with their rows, indexes and sealed fields. */
import mongoose from 'mongoose';
import { z } from 'zod';
import type { SealedField } from './sealed-field.ts';

/** An owned collection: its name, its mongoose schema with indexes, and its sealed fields. */
export interface Collection<Row extends { _id: string }> {
  readonly name: string;
  readonly schema: mongoose.Schema<Row>;
  readonly sealed: readonly SealedField<Row>[];
  /** Names of indexes that earlier versions created and that must not exist any more. */
  readonly obsoleteIndexes: readonly string[];
}

/** The type of a collection's rows. */
export type StoredRow<C> = C extends Collection<infer Row> ? Row : never;

/** An index, in the notation of MongoDB's `createIndex`. */
export interface Index {
  readonly on: Record<string, 1 | -1 | 'text'>;
  readonly options?: mongoose.IndexOptions;
}

/** Wraps bytes as MongoDB stores them. */
export function newBinary(bytes: Uint8Array): mongoose.mongo.Binary {
  return new mongoose.mongo.Binary(bytes);
}

/** The schema of a field with bytes. */
export const binary = z.instanceof(mongoose.mongo.Binary);

/** The schema of a field with an id of MongoDB, e.g. of a GridFS file. */
export const objectId = z.instanceof(mongoose.mongo.ObjectId);

/**
 * Declares an owned collection. The types of its rows and its mongoose schema are derived from `row`. Rows are not
 * parsed with it: it says what is stored, and a mongoose model throws for a field that is not listed. The driver's
 * collection does not, and it stores `undefined` as null: the type of the rows must exclude both.
 */
export function collection<Row extends { _id: string }>(
  name: string,
  {
    row,
    indexes,
    obsoleteIndexes,
    sealed,
  }: {
    row: z.ZodType<Row> & { readonly shape: z.core.$ZodShape };
    indexes?: readonly Index[];
    obsoleteIndexes?: readonly string[];
    sealed?: readonly SealedField<NoInfer<Row>>[];
  },
): Collection<Row> {
  // the fields are derived from the same schema as `Row`
  const fields = toFields(row.shape) as mongoose.SchemaDefinition<Row>;
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
  return { name, schema, sealed: sealed ?? [], obsoleteIndexes: obsoleteIndexes ?? [] };
}

function toFields(shape: z.core.$ZodShape): Record<string, unknown> {
  return Object.fromEntries(Object.entries(shape).map(([name, type]) => [name, toField(type)]));
}

/** Maps the schema of a field to its mongoose type. */
function toField(type: z.core.$ZodType): unknown {
  if (type === objectId) return mongoose.Schema.Types.ObjectId;
  if (type === binary) return Buffer;
  // every zod type is one of this union
  const { def } = (type as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'string':
    case 'enum':
      return String;
    case 'number':
      return Number;
    case 'boolean':
      return Boolean;
    case 'literal':
      return Object(def.values[0]).constructor;
    case 'date':
      return Date;
    case 'nullable':
      return toField(def.innerType);
    case 'optional': {
      const field = toField(def.innerType);
      // otherwise mongoose adds an empty array to rows that it upserts
      return Array.isArray(field) ? { type: field, default: undefined } : field;
    }
    case 'array':
      return [toField(def.element)];
    case 'object':
      return { ...toFields(def.shape), _id: false };
    case 'record':
    case 'custom':
      return Object;
    default:
      throw new Error(`A row cannot have a field of the zod type ${def.type}`);
  }
}
