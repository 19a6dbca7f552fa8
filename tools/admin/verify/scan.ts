/** Walks collections in batches. Each batch is read from one snapshot, so that concurrent changes break nothing. */
import type mongoose from 'mongoose';
import type { Keyring } from '#libs/store';

/** A stage of an aggregation, or the conditions of a `$match`. */
export type Stage = Record<string, unknown>;

/** A row, of which the fields in the last stage are read. */
export type Row = Record<string, unknown>;

/** Reads the database for the invariants. */
export interface Scan {
  readonly db: mongoose.mongo.Db;
  /** The time of the check. */
  readonly now: Date;
  /** Background work that was open at this time must be done. */
  readonly settledBefore: Date;
  /** The encryption keys, if they are known. */
  readonly keyring: Keyring | undefined;
  /** The rows of a collection that the stages leave over. */
  rows(collection: string, stages: readonly Stage[], batchSize?: number): AsyncGenerator<Row>;
  /** The ids of these rows. */
  findIds(collection: string, stages: readonly Stage[], batchSize?: number): AsyncGenerator<string>;
  /** The ids in the result of one aggregation of the whole collection. MongoDB may use its disk for it. */
  findIdsInOneQuery(collection: string, stages: readonly Stage[]): AsyncGenerator<string>;
  hasCollection(name: string): Promise<boolean>;
}

/** Rows that are checked in one query. */
const defaultBatchSize = 2_000;

/** What a check needs to know. */
export interface ScanOptions {
  now: Date;
  /** How long work in the background may take. */
  graceMs: number;
  keyring?: Keyring | undefined;
}

/** Creates a scan of a database on a replica set. It needs only the right to read. */
export function createScan(db: mongoose.mongo.Db, { now, graceMs, keyring }: ScanOptions): Scan {
  return {
    db,
    now,
    keyring,
    settledBefore: new Date(now.getTime() - graceMs),
    rows: (collection, stages, batchSize) => walk(db, collection, stages, batchSize),
    async *findIds(collection, stages, batchSize) {
      const rows = walk(db, collection, [...stages, { $project: { _id: 1 } }], batchSize);
      for await (const { _id } of rows) yield String(_id);
    },
    async *findIdsInOneQuery(collection, stages) {
      const session = db.client.startSession({ snapshot: true });
      try {
        const options = { session, allowDiskUse: true };
        for await (const { _id } of db.collection(collection).aggregate([...stages], options))
          yield String(_id);
      } finally {
        await session.endSession();
      }
    },
    hasCollection: (name) => db.listCollections({ name }, { nameOnly: true }).hasNext(),
  };
}

/**
 * Aggregates a collection in ranges of `_id`. A snapshot is kept by MongoDB for five minutes, which is much longer than
 * a batch takes.
 */
async function* walk(
  db: mongoose.mongo.Db,
  collection: string,
  stages: readonly Stage[],
  batchSize = defaultBatchSize,
): AsyncGenerator<Row> {
  for (let range: Stage | undefined = {}; range; ) {
    const session = db.client.startSession({ snapshot: true });
    try {
      const [last] = await db
        .collection(collection)
        .find(toFilter(range), { session, projection: { _id: 1 } })
        .sort({ _id: 1 })
        .skip(batchSize - 1)
        .limit(1)
        .toArray();
      const batch = { ...range, ...(last && { $lte: last._id }) };
      yield* db.collection(collection).aggregate([{ $match: toFilter(batch) }, ...stages], { session });
      range = last && { $gt: last._id };
    } finally {
      await session.endSession();
    }
  }
}

/** The filter of a range. An empty range is all rows: ids have different types in different collections. */
function toFilter(range: Stage): Stage {
  return Object.keys(range).length > 0 ? { _id: range } : {};
}
