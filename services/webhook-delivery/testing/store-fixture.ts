/** Test fixture: the store of webhook delivery in its own MongoDB database, without other services. */
import { randomBytes } from 'node:crypto';
import { Secret } from '#libs/contract';
import { memoryBus, toTopology } from '#libs/events';
import { createKeyring, openStore, type Store } from '#libs/store';
import { testMongo } from '#libs/testing';
import { webhookDeliveryContract as contract } from '../contract.ts';
import { ownCollections, webhookConfigs } from '../store/collections.ts';

/** A store in its own database. */
export interface TestStore {
  store: Store;
  /** Opens another store in the same database, as another process does. `stop` closes it too. */
  replica(): Promise<Store>;
  /** Drops the database, closes all stores and stops a server that was started for them. */
  stop(): Promise<void>;
}

/** Opens the store. */
export async function openTestStore(): Promise<TestStore> {
  const mongo = await testMongo();
  const uri = new URL(mongo.uri);
  uri.pathname = `/test_${randomBytes(6).toString('hex')}`;
  const topology = toTopology([contract]);
  const keyring = createKeyring(new Secret(randomBytes(32).toString('base64')));
  const stores: Store[] = [];
  const replica = async () => {
    const opened = await openStore({
      uri: new Secret(uri.href),
      contract,
      collections: ownCollections,
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
  const store = await replica();
  await store.migrate();
  const stop = async () => {
    await store.rows(webhookConfigs).db.dropDatabase();
    await Promise.all(stores.map((opened) => opened.close()));
    await mongo.stop();
  };
  return { store, replica, stop };
}
