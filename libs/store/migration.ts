/** Creates the collections, indexes and views of a service, and drops its obsolete indexes. */
import type mongoose from 'mongoose';
import type { View } from '#libs/contract';
import { isIndexNotFound, isUnauthorized } from './error-codes.ts';
import { createView, ignoreAlreadyExists } from './views.ts';

type Db = mongoose.mongo.Db;

/** A collection as far as a migration needs it. */
interface MigratedCollection {
  name: string;
  schema: Pick<mongoose.Schema, 'indexes'>;
  obsoleteIndexes: readonly string[];
}

/** What a service owns. */
export interface Migration {
  collections: readonly MigratedCollection[];
  views: readonly View[];
  onError(message: string, error: unknown): void;
}

/** Migrates the database of a service. Idempotent; several processes may run it at the same time. */
export async function migrate(db: Db, { collections, views, onError }: Migration): Promise<void> {
  const existing = new Set(
    (await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name),
  );
  const absent = collections.filter(({ name }) => !existing.has(name));
  await Promise.all(absent.map(({ name }) => db.createCollection(name).catch(ignoreAlreadyExists)));
  await Promise.all(collections.map((collection) => createIndexes(db, collection)));
  for (const collection of collections)
    for (const index of await dropObsoleteIndexes(db, collection))
      onError(
        `As an administrator of MongoDB, drop the obsolete index ${index} of ${collection.name}`,
        new Error('The user of the service may not drop indexes'),
      );
  await Promise.all(views.map((view) => createView(db, view)));
}

/** Creates the indexes of a collection in one command. Without changes it has no effect. */
async function createIndexes(
  db: mongoose.mongo.Db,
  { name, schema }: { name: string; schema: Pick<mongoose.Schema, 'indexes'> },
): Promise<void> {
  const indexes = schema.indexes().map(([key, { background: _, ...options }]) => ({ key, ...options }));
  // the types of mongoose do not know that these are the options of the driver
  if (indexes.length > 0)
    await db.collection(name).createIndexes(indexes as mongoose.mongo.IndexDescription[]);
}

/** Drops the obsolete indexes of a collection that exist. Returns those that the user may not drop. */
async function dropObsoleteIndexes(
  db: mongoose.mongo.Db,
  { name, obsoleteIndexes }: { name: string; obsoleteIndexes: readonly string[] },
): Promise<string[]> {
  if (obsoleteIndexes.length === 0) return [];
  const existing = new Set((await db.collection(name).indexes()).map((index) => index.name));
  const denied: string[] = [];
  for (const index of obsoleteIndexes.filter((one) => existing.has(one))) {
    try {
      await db.collection(name).dropIndex(index);
    } catch (error) {
      if (isUnauthorized(error)) denied.push(index);
      // another process has dropped it meanwhile
      else if (!isIndexNotFound(error)) throw error;
    }
  }
  return denied;
}
