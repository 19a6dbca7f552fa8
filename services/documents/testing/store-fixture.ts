/** Opens the stores of any number of replicas for tests, with one new database in a real MongoDB. */
import { randomBytes } from 'node:crypto';
import { Secret } from '#libs/contract';
import { memoryBus, toTopology } from '#libs/events';
import { createKeyring, createView, openStore, type Store } from '#libs/store';
import { testMongo } from '#libs/testing';
import { contracts } from '../../contracts.ts';
import { createStorageQuota } from '../../identity/storage-quota.ts';
import { documentsContract as contract } from '../contract.ts';
import { assets } from '../store/assets.ts';
import { documentCollections as collections, documents as documentRows } from '../store/collections.ts';
import { documentRepository } from '../store/document-repository.ts';
import { search } from '../store/search.ts';
import { storageCharges } from '../store/storage-charges.ts';
import { trees } from '../store/tree.ts';

/** The open stores. */
export interface DocumentStores {
  /** One store per replica. */
  stores: Store[];
  /** Drops the database, closes the stores, and stops the MongoDB server if it was started for them. */
  stop(): Promise<void>;
}

/** Opens the stores of this number of replicas. */
export async function openDocumentStores(replicas = 1): Promise<DocumentStores> {
  const mongo = await testMongo();
  const uri = new URL(mongo.uri);
  uri.pathname = `/test_${randomBytes(6).toString('hex')}`;
  const topology = toTopology(contracts);
  const open = () =>
    openStore({
      uri: new Secret(uri.href),
      contract,
      collections,
      topology,
      bus: memoryBus(topology),
      alone: true,
      keyring: createKeyring(new Secret(randomBytes(32).toString('base64'))),
      now: () => new Date(),
      trace: () => undefined,
      onError: () => undefined,
    });
  const stores = await Promise.all(Array.from({ length: replicas }, open));
  const [first] = stores;
  if (!first) throw new Error('At least one replica is required');
  await first.migrate();
  const { db } = first.rows(documentRows);
  // the views of other services exist and are empty
  if (db.db) for (const view of contract.reads) await createView(db.db, view);
  return {
    stores,
    async stop() {
      await db.dropDatabase();
      await Promise.all(stores.map((store) => store.close()));
      await mongo.stop();
    },
  };
}

/** Creates a document repository of a replica. Organizations without a plan have no limits. */
export function createTestRepository(store: Store, now = () => new Date()) {
  const meters = { counter: () => () => undefined, histogram: () => () => undefined, gauge: () => undefined };
  const quota = createStorageQuota(store, meters);
  const charges = storageCharges(store, quota, now);
  const stores = { trees: trees(store), search: search(store), charges, assets: assets(store, quota, now) };
  return documentRepository(store, stores, now);
}
