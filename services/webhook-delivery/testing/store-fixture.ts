/** Test fixture: the store of webhook delivery in its own MongoDB database, without other services. */
import { randomBytes } from 'node:crypto';
import { Secret } from '#libs/contract';
import { memoryBus, toTopology } from '#libs/events';
import { createKeyring, openStore, type Store } from '#libs/store';
import { testMongo } from '#libs/testing';
import { webhookDeliveryContract as contract } from '../contract.ts';
import { webhookConfigs, webhookDeliveries, webhookEvents } from '../store/collections.ts';

/**
 * Opens the store. `stop` drops the database, closes the store and stops a server that was started for it.
 */
export async function openTestStore(): Promise<{ store: Store; stop(): Promise<void> }> {
  const mongo = await testMongo();
  const uri = new URL(mongo.uri);
  uri.pathname = `/test_${randomBytes(6).toString('hex')}`;
  const topology = toTopology([contract]);
  const store = await openStore({
    uri: new Secret(uri.href),
    contract,
    collections: [webhookConfigs, webhookEvents, webhookDeliveries],
    topology,
    bus: memoryBus(topology),
    alone: true,
    keyring: createKeyring(new Secret(randomBytes(32).toString('base64'))),
    now: () => new Date(),
    trace: () => undefined,
    onError: () => undefined,
  });
  await store.migrate();
  const stop = async () => {
    await store.rows(webhookConfigs).db.dropDatabase();
    await store.close();
    await mongo.stop();
  };
  return { store, stop };
}
