/** Creates the collections, indexes and views of a service, and drops its obsolete indexes. */
import type mongoose from 'mongoose';
import type { View } from '#libs/contract';
import { isIndexNotFound, isUnauthorized } from './error-codes.ts';
import { createView, ignoreAlreadyExists } from './views.ts';

type Db = mongoose.mongo.Db;

/** A collection as far as a migration needs it. */
export interface MigratedCollection {
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

/**
 * Migrates the database of a service. Idempotent; several processes may run it at the same time. Rejects if something
 * is missing that the user may not create.
 */
export async function migrate(db: Db, { collections, views, onError }: Migration): Promise<void> {
  const existing = new Set(
    (await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name),
  );
  await Promise.all(
    collections.map(async (collection) => {
      try {
        if (!existing.has(collection.name))
          await db.createCollection(collection.name).catch(ignoreAlreadyExists);
        await createIndexes(db, collection);
      } catch (error) {
        if (!isUnauthorized(error)) throw error;
        await requireIndexes(db, collection, existing.has(collection.name), error);
      }
    }),
  );
  for (const collection of collections)
    for (const index of await dropObsoleteIndexes(db, collection))
      onError(
        `As an administrator of MongoDB, drop the obsolete index ${index} of ${collection.name}`,
        new Error('The user of the service may not drop indexes'),
      );
  await Promise.all(views.map((view) => createView(db, view)));
}

/** Creates the indexes of a collection in one command. Without changes it has no effect. */
async function createIndexes(db: Db, collection: MigratedCollection): Promise<void> {
  const indexes = getIndexes(collection);
  if (indexes.length > 0) await db.collection(collection.name).createIndexes(indexes);
}

/** Builds the command that creates the indexes of a collection, and the collection if there is none. */
export function indexCommand(collection: MigratedCollection): Record<string, unknown> {
  return { createIndexes: collection.name, indexes: getIndexes(collection) };
}

function getIndexes({ schema }: MigratedCollection): mongoose.mongo.IndexDescription[] {
  return schema.indexes().map(([key, { background: _, ...options }]) => ({
    key,
    name: Object.entries(key).flat().join('_'),
    ...options,
    // the types of mongoose do not know that these are the options of the driver
  })) as mongoose.mongo.IndexDescription[];
}

/** Rejects if an index is missing that the user may not create. `cause` is the error of MongoDB. */
async function requireIndexes(
  db: Db,
  collection: MigratedCollection,
  exists: boolean,
  cause: unknown,
): Promise<void> {
  const { name } = collection;
  const existing = new Set(exists ? (await db.collection(name).indexes()).map((index) => index.name) : []);
  const missing = getIndexes(collection).filter((index) => !existing.has(index.name));
  if (exists && missing.length === 0) return;
  const what = exists ? `the indexes ${missing.map((index) => index.name).join(', ')} of` : 'the collection';
  throw new Error(
    `The user of the service may not create ${what} ${name}: run \`npm run admin -- mongo-users\``,
    { cause },
  );
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
