/** Connecting to MongoDB, in one way for all. */
import mongoose from 'mongoose';
import type { RowOf, Secret, View } from '#libs/contract';
import { patchSessionTracking } from './driver.ts';
import { type Reader, reader } from './views.ts';

/** Connects, with at most so many connections unless the address says how many; rejects when MongoDB cannot be reached within five seconds. */
export async function connect(uri: Secret, options: { appName: string; maxPoolSize: number }) {
  const { appName, maxPoolSize } = options;
  // to the driver, what stands in the address counts less
  const hasPoolSize = /[?&]maxPoolSize=/i.test(uri.reveal());
  const connection = mongoose.createConnection(uri.reveal(), {
    ...{ appName, ...(!hasPoolSize && { maxPoolSize }) },
    serverSelectionTimeoutMS: 5_000,
    connectTimeoutMS: 5_000,
    heartbeatFrequencyMS: 5_000,
    minPoolSize: 1,
    writeConcern: { w: 'majority' },
    bufferCommands: false,
    autoIndex: false,
    autoCreate: false,
  });
  await connection.asPromise().catch(async (error: unknown) => {
    // mongoose remembers every connection it tried until it is destroyed
    await connection.destroy(true);
    throw error;
  });
  patchSessionTracking(connection.getClient());
  const db = connection.db;
  if (!db) throw new Error('MongoDB gave a connection without a database');
  return { connection, db };
}

/** A connection that only reads views: what a thread needs to read for itself. */
export interface ReadOnlyStore {
  read<V extends View>(view: V): Reader<RowOf<V>>;
  close(): Promise<void>;
}

/** Connects for reading; rejects when MongoDB cannot be reached within five seconds. */
export async function openReadOnlyStore(uri: Secret, appName: string): Promise<ReadOnlyStore> {
  const { connection, db } = await connect(uri, { appName, maxPoolSize: 4 });
  return { read: (view) => reader(db, view), close: () => connection.close() };
}
