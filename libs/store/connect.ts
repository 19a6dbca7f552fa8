/** Connects to MongoDB with the options that all connections share. */
import mongoose from 'mongoose';
import type { RowOf, Secret, View } from '#libs/contract';
import type { Collection } from './collection.ts';
import './driver-command-times.ts';
import './driver-drain-hang.ts';
import { createReader, type Reader } from './views.ts';

/**
 * The driver notices a frozen MongoDB after heartbeat and connect timeout together. It then repeats commands once,
 * which fail after the selection timeout: the first request gets its 503 after at most 5 seconds.
 */
const timeLimits = { serverSelectionTimeoutMS: 2_000, connectTimeoutMS: 2_000, heartbeatFrequencyMS: 1_000 };

/**
 * Connects. A `maxPoolSize` or a time limit in the address overrides the default. Rejects if MongoDB cannot be
 * reached within two seconds.
 */
export async function connect(uri: Secret, options: { appName: string; maxPoolSize: number }) {
  const { appName, maxPoolSize } = options;
  const connection = mongoose.createConnection(uri.reveal(), {
    ...omitSet(uri, { maxPoolSize, ...timeLimits }),
    appName,
    minPoolSize: 1,
    // the default needs a second connection for each server, and 2 ms of CPU time per second in an idle process
    serverMonitoringMode: 'poll',
    writeConcern: { w: 'majority' },
    bufferCommands: false,
    autoIndex: false,
    autoCreate: false,
  });
  await connection.asPromise().catch(async (error: unknown) => {
    // mongoose keeps a failed connection until it is destroyed
    await connection.destroy(true);
    throw error;
  });
  const db = connection.db;
  if (!db) throw new Error('The MongoDB connection has no database');
  return { connection, db };
}

/** Omits the options that the address sets, because the driver prefers options to the address. */
function omitSet(uri: Secret, options: Record<string, number>): Record<string, number> {
  const isSet = (name: string) => new RegExp(`[?&]${name}=`, 'i').test(uri.reveal());
  return Object.fromEntries(Object.entries(options).filter(([name]) => !isSet(name)));
}

/** Connects for a check of the whole database. Rejects if MongoDB cannot be reached within two seconds. */
export async function openDatabase(
  uri: Secret,
  appName: string,
): Promise<{ db: mongoose.mongo.Db; close(): Promise<void> }> {
  const { connection, db } = await connect(uri, { appName, maxPoolSize: 4 });
  return { db, close: () => connection.close() };
}

/** Gets the mongoose model of a collection. */
export function getModel<Row extends { _id: string }>(
  connection: mongoose.Connection,
  { name, schema }: Collection<Row>,
): mongoose.Model<Row> {
  const model: unknown = connection.models[name] ?? connection.model(name, schema);
  // mongoose returns models by name without their row type; this name belongs to this collection
  return model as mongoose.Model<Row>;
}

/** A connection that only reads, for workers outside the service's process. */
export interface ReadOnlyStore {
  read<V extends View>(view: V): Reader<RowOf<V>>;
  rows<Row extends { _id: string }>(
    collection: Collection<Row>,
  ): Pick<mongoose.Model<Row>, 'findOne' | 'exists'>;
  files(bucket: string): Pick<mongoose.mongo.GridFSBucket, 'openDownloadStream'>;
}

/** Connects to read. Rejects if MongoDB cannot be reached within two seconds. */
export async function openReadOnlyStore(uri: Secret, appName: string): Promise<ReadOnlyStore> {
  const { connection, db } = await connect(uri, { appName, maxPoolSize: 4 });
  return {
    read: (view) => createReader(db, view),
    rows: (collection) => getModel(connection, collection),
    files: (bucketName) => new mongoose.mongo.GridFSBucket(db, { bucketName }),
  };
}
