/**
 * Opens the store of a service for an operator's command, with the grants of that service and without
 * starting it.
 */
import { type Contract, Secret } from '#libs/contract';
import { memoryBus, toTopology } from '#libs/events';
import type { AnyService } from '#libs/service';
import { createKeyring, openStore, type Store } from '#libs/store';
import { contracts } from '../../services/contracts.ts';
import { WrongUsage } from './command.ts';

/** The settings that the store needs. */
export interface StoreSettings {
  MONGODB_URI: string;
  ENCRYPTION_KEYS: string;
}

/** Reads the settings from the environment. Throws `WrongUsage` if one is missing. */
export function readStoreSettings(): StoreSettings {
  const { MONGODB_URI, ENCRYPTION_KEYS } = process.env;
  if (!MONGODB_URI || !ENCRYPTION_KEYS) throw new WrongUsage('MONGODB_URI and ENCRYPTION_KEYS are required.');
  return { MONGODB_URI, ENCRYPTION_KEYS };
}

/**
 * Opens the store without migrations and without a broker. Rejects if MongoDB is unreachable or a key is
 * invalid.
 */
export function openServiceStore(
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
    keyring: createKeyring(new Secret(settings.ENCRYPTION_KEYS)),
    now: () => new Date(),
    trace: () => undefined,
    onError: (message, error) => console.error(message, error),
  });
}
