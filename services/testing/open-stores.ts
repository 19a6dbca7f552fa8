/** Opens the stores of any number of replicas of a service for tests, with one new database in a real MongoDB. */
import { randomBytes } from 'node:crypto';
import type mongoose from 'mongoose';
import { Secret } from '#libs/contract';
import { memoryBus, toTopology } from '#libs/events';
import { createKeyring, createView, openStore, type Store, type StoreOptions } from '#libs/store';
import { testMongo } from '#libs/testing';
import { contracts } from '../contracts.ts';

/** The open stores. */
export interface OpenStores {
  /** One store per replica. */
  stores: Store[];
  /** The first of them. */
  store: Store;
  db: mongoose.mongo.Db;
  /** Opens another store in the same database, as another process does. `stop` closes it too. */
  replica(): Promise<Store>;
  /** Drops the database, closes the stores, and stops the MongoDB server if it was started for them. */
  stop(): Promise<void>;
}

/** Opens the stores of this number of replicas. The views of other services exist and are empty. */
export async function openStores(
  { contract, collections }: Pick<StoreOptions, 'contract' | 'collections'>,
  replicas = 1,
): Promise<OpenStores> {
  const mongo = await testMongo();
  const uri = new URL(mongo.uri);
  uri.pathname = `/test_${randomBytes(6).toString('hex')}`;
  const topology = toTopology(contracts);
  const keyring = createKeyring(new Secret(randomBytes(32).toString('base64')));
  const stores: Store[] = [];
  const replica = async () => {
    const opened = await openStore({
      uri: new Secret(uri.href),
      contract,
      collections,
      topology,
      bus: memoryBus(topology),
      alone: true,
      keyring,
      now: () => new Date(),
      trace: () => undefined,
      onError: () => undefined,
    });
    stores.push(opened);
    return opened;
  };
  await Promise.all(Array.from({ length: replicas }, replica));
  const [store] = stores;
  const [collection] = collections;
  if (!store || !collection) throw new Error('At least one replica and one collection are required');
  await store.migrate();
  const { db } = store.rows(collection).db;
  if (!db) throw new Error('The store is closed');
  for (const view of contract.reads) await createView(db, view);
  return {
    stores,
    store,
    db,
    replica,
    async stop() {
      await db.dropDatabase();
      await Promise.all(stores.map((opened) => opened.close()));
      await mongo.stop();
    },
  };
}
