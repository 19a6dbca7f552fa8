/** The store of a service, opened for an operator's command: with that service's rights, and without starting it. */
import { type Contract, Secret } from '#libs/contract';
import { memoryBus, toTopology } from '#libs/events';
import type { AnyService } from '#libs/service';
import { createKeyring, openStore, type Store } from '#libs/store';
import { contracts } from '../services/contracts.ts';

/** The settings of a service that its store needs. */
export interface StoreSettings {
  MONGODB_URI: string;
  ENCRYPTION_KEYS: string;
}

/** Opens the store; rejects when MongoDB cannot be reached or a key is none. Nothing is published, and nothing prepared. */
export function ownedStore(
  { contract, collections }: Pick<AnyService, 'collections'> & { contract: Contract },
  settings: StoreSettings,
): Promise<Store> {
  const topology = toTopology(contracts);
  return openStore({
    uri: new Secret(settings.MONGODB_URI),
    contract,
    collections,
    topology,
    bus: memoryBus(topology),
    alone: false,
    ring: createKeyring(new Secret(settings.ENCRYPTION_KEYS)),
    now: () => new Date(),
    trace: () => undefined,
    onError: (what, error) => console.error(what, error),
  });
}
