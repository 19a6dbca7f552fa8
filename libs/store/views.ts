/** Views: made by their owner, read by others. */
import type mongoose from 'mongoose';
import type { RowOf, View } from '#libs/contract';

type Db = mongoose.mongo.Db;
type Filter = Record<string, unknown>;

/** Reads the rows of one view that a scope allows. */
export interface Finder<Row> {
  one(filter: Filter, options?: FindOptions): Promise<Row | undefined>;
  many(filter: Filter, options?: FindOptions): Promise<Row[]>;
  count(filter: Filter): Promise<number>;
  /** The rows as BSON documents, each to be decoded when its turn comes; they share memory. */
  bytes(filter: Filter): Promise<Uint8Array[]>;
}

export interface FindOptions {
  sort?: Record<string, 1 | -1>;
  limit?: number;
  session?: mongoose.ClientSession;
}

/** A view to be read: always within a scope, unless the view was declared without one. */
export interface Reader<Row> {
  /** The rows whose scope field has this value, e.g. one organization's. */
  in(scope: string): Finder<Row>;
  /** All rows, for a view that was declared without a scope. */
  unscoped(): Finder<Row>;
}

/** A reader of a view. */
export function reader<V extends View>(db: Db, view: V): Reader<RowOf<V>> {
  const rows = db.collection(view.name);
  const finder = (scope: Filter): Finder<RowOf<V>> => ({
    async one(filter, options = {}) {
      const row = await rows.findOne({ ...filter, ...scope }, options);
      return row ? known<RowOf<V>>(row) : undefined;
    },
    async many(filter, options = {}) {
      return (await rows.find({ ...filter, ...scope }, options).toArray()).map(known<RowOf<V>>);
    },
    count: (filter) => rows.countDocuments({ ...filter, ...scope }),
    async bytes(filter) {
      const found: unknown[] = await rows.find({ ...filter, ...scope }, { raw: true }).toArray();
      // with `raw` the driver gives each row as it came
      return found as Uint8Array[];
    },
  });
  return {
    in(value) {
      if (view.scope === null) throw new Error(`${view.name} has no scope`);
      // whoever lost the organization on the way must not read everyone's rows, nor those without one
      if (typeof value !== 'string' || value === '')
        throw new Error(`${view.name} is read by ${view.scope}, and there is none`);
      return finder({ [view.scope]: value });
    },
    unscoped() {
      if (view.scope !== null) throw new Error(`${view.name} is read by ${view.scope}`);
      return finder({});
    },
  };
}

/** Makes an owner's view, or brings it up to date. */
export async function createView(db: Db, view: View): Promise<void> {
  const fields = Object.keys(view.row.shape).map((field) => [field, 1]);
  const keepsId = fields.some(([field]) => field === '_id');
  const project = { $project: { ...(keepsId ? {} : { _id: 0 }), ...Object.fromEntries(fields) } };
  const pipeline = [...(view.stages ?? []), project];
  const [existing] = await db.listCollections({ name: view.name }).toArray();
  if (!existing)
    await db.createCollection(view.name, { viewOn: view.collection, pipeline }).catch(ignoreAlreadyExists);
  else if (!same(existing, view.collection, pipeline))
    await db.command({ collMod: view.name, viewOn: view.collection, pipeline });
}

/** The names of those views that their owner has not made yet. */
export async function missingViews(db: Db, views: readonly View[]): Promise<string[]> {
  const there = new Set((await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name));
  return views.map(({ name }) => name).filter((name) => !there.has(name));
}

/** Swallows "it exists already": another replica was faster. */
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

function same(existing: object, input: string, pipeline: unknown): boolean {
  const options: unknown = 'options' in existing ? existing.options : undefined;
  return JSON.stringify(options) === JSON.stringify({ viewOn: input, pipeline });
}

/** What the owner wrote has the shape that its view's schema names; tests check that, a hot path does not. */
function known<Row>(row: unknown): Row {
  return row as Row;
}
