/** The stores of documents alone, for tests: as many replicas as wanted over one real MongoDB with a database of its own. */
import { randomBytes } from 'node:crypto';
import { Secret } from '#libs/contract';
import { memoryBus, toTopology } from '#libs/events';
import { createKeyring, createView, openStore, type Store } from '#libs/store';
import { testMongo } from '#libs/testing';
import { contracts } from '../../contracts.ts';
import { documentsContract as contract } from '../contract.ts';
import {
  documents as documentRows,
  nodes as nodeRows,
  publishLedger,
  publishUsage,
  search as searchRows,
} from '../store/collections.ts';

/** What is open. */
export interface OwnStores {
  /** A store for each replica. */
  stores: Store[];
  /** Closes them and ends the server if it was started for this. */
  stop(): Promise<void>;
}

/** Opens the store of so many replicas. */
export async function ownStores(replicas = 1): Promise<OwnStores> {
  const mongo = await testMongo();
  const uri = new URL(mongo.uri);
  uri.pathname = `/test_${randomBytes(6).toString('hex')}`;
  const topology = toTopology(contracts);
  const open = () =>
    openStore({
      uri: new Secret(uri.href),
      contract,
      collections: [documentRows, nodeRows, publishLedger, publishUsage, searchRows],
      topology,
      bus: memoryBus(topology),
      alone: true,
      ring: createKeyring(new Secret(randomBytes(32).toString('base64'))),
      now: () => new Date(),
      trace: () => undefined,
      onError: () => undefined,
    });
  const stores = await Promise.all(Array.from({ length: replicas }, open));
  const [first] = stores;
  if (!first) throw new Error('At least one replica is wanted');
  await first.migrate();
  const { db } = first.rows(documentRows);
  // what neighbours publish is there and empty
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
