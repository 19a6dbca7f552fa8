/** Views: read-only projections of a collection, created by its owner and read by other services. */
import mongoose from 'mongoose';
import type { RowOf, View } from '#libs/contract';

type Db = mongoose.mongo.Db;
type Filter = Record<string, unknown>;

/** Finds the rows of one view within a scope. */
export interface Finder<Row> {
  one(filter: Filter, options?: FindOptions): Promise<Row | undefined>;
  many(filter: Filter, options?: FindOptions): Promise<Row[]>;
  count(filter: Filter): Promise<number>;
  /** The rows as raw BSON, so that the caller can decode them one at a time. They share memory. */
  bytes(filter: Filter): Promise<Uint8Array[]>;
}

/** Options of a query. */
export interface FindOptions {
  sort?: Record<string, 1 | -1>;
  limit?: number;
  session?: mongoose.ClientSession;
}

/** Reads a view, always within a scope unless the view is declared without one. */
export interface Reader<Row> {
  /** Selects the rows whose scope field has this value, e.g. the rows of one organization. */
  in(scope: string): Finder<Row>;
  /** Selects all rows. Throws unless the view is declared without a scope. */
  unscoped(): Finder<Row>;
}

/** Creates a reader of a view. */
export function createReader<V extends View>(db: Db, view: V): Reader<RowOf<V>> {
  const rows = db.collection(view.name);
  const finder = (scope: Filter): Finder<RowOf<V>> => ({
    async one(filter, options = {}) {
      const row = await rows.findOne({ ...filter, ...scope }, options);
      return row ? toRow<RowOf<V>>(row) : undefined;
    },
    async many(filter, options = {}) {
      return (await rows.find({ ...filter, ...scope }, options).toArray()).map(toRow<RowOf<V>>);
    },
    count: (filter) => rows.countDocuments({ ...filter, ...scope }),
    async bytes(filter) {
      const found: unknown[] = await rows.find({ ...filter, ...scope }, { raw: true }).toArray();
      // with `raw`, the driver returns each row as bytes
      return found as Uint8Array[];
    },
  });
  return {
    in(value) {
      if (view.scope === null) throw new Error(`${view.name} has no scope`);
      // an undefined organization must not select the rows of all organizations, or those without one
      if (typeof value !== 'string' || value === '')
        throw new Error(`${view.name} must be read by ${view.scope}, which is missing`);
      return finder({ [view.scope]: value });
    },
    unscoped() {
      if (view.scope !== null) throw new Error(`${view.name} must be read by ${view.scope}`);
      return finder({});
    },
  };
}

/** Decodes a row from its raw BSON. Like rows of `one` and `many`, it is not checked. */
export function decodeRow<Row>(bytes: Uint8Array): Row {
  return toRow<Row>(mongoose.mongo.BSON.deserialize(bytes));
}

/** Creates a view, or updates it if its definition has changed. */
export async function createView(db: Db, view: View): Promise<void> {
  const fields = Object.keys(view.row.shape).map((field) => [field, 1]);
  const keepsId = fields.some(([field]) => field === '_id');
  const project = { $project: { ...(keepsId ? {} : { _id: 0 }), ...Object.fromEntries(fields) } };
  const pipeline = [...(view.stages ?? []), project];
  const [existing] = await db.listCollections({ name: view.name }).toArray();
  if (!existing)
    await db.createCollection(view.name, { viewOn: view.collection, pipeline }).catch(ignoreAlreadyExists);
  else if (!isUpToDate(existing, view.collection, pipeline))
    await db.command({ collMod: view.name, viewOn: view.collection, pipeline });
}

/** Gets the names of the views that do not exist yet. */
export async function missingViews(db: Db, views: readonly View[]): Promise<string[]> {
  const existing = new Set(
    (await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name),
  );
  return views.map(({ name }) => name).filter((name) => !existing.has(name));
}

/** Ignores the error that a collection or view already exists: another replica created it first. */
export function ignoreAlreadyExists(error: unknown): void {
  if (
    typeof error === 'object' &&
    error !== null &&
    'codeName' in error &&
    error.codeName === 'NamespaceExists'
  )
    return;
  throw error;
}

function isUpToDate(existing: object, viewOn: string, pipeline: unknown): boolean {
  const options: unknown = 'options' in existing ? existing.options : undefined;
  return JSON.stringify(options) === JSON.stringify({ viewOn, pipeline });
}

/** Casts a row to the view's schema. Tests check that rows match; checking here would slow a hot path. */
function toRow<Row>(row: unknown): Row {
  return row as Row;
}
