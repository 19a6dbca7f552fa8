/** Opens the store of webhook delivery in its own MongoDB database, without other services. */
import { type OpenStores, openStores } from '../../testing/open-stores.ts';
import { webhookDeliveryContract as contract } from '../contract.ts';
import { ownCollections as collections } from '../store/collections.ts';

export type TestStore = OpenStores;

/** Opens the store. */
export function openTestStore(): Promise<TestStore> {
  return openStores({ contract, collections });
}
