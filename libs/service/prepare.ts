/** What must be there before a service starts: MongoDB, its own collections, the views of its neighbours. */
import { setTimeout as pause } from 'node:timers/promises';
import { isUnavailable, type Store } from '#libs/store';
import type { Log } from './log.ts';
import type { AnyService } from './service.ts';

const longestPauseMs = 5_000;

/** Opens and prepares the stores of all services, then waits until the views that they read are there. */
export async function prepared(
  services: readonly AnyService[],
  open: (service: AnyService) => Promise<Store>,
  log: Log,
): Promise<Store[]> {
  const stores = await Promise.all(
    services.map((service) => reached(() => open(service), service.contract.name, log)),
  );
  await Promise.all(stores.map((store) => store.prepare()));
  for (let pauseMs = 100; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    const missing = (await Promise.all(stores.map((store) => store.missing()))).flat();
    if (missing.length === 0) return stores;
    log.info({ missing: [...new Set(missing)] }, 'Waiting for the views of other services');
    await pause(pauseMs);
  }
}

async function reached(open: () => Promise<Store>, service: string, log: Log): Promise<Store> {
  for (let pauseMs = 250; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    try {
      return await open();
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      log.warn({ service, err: error }, 'Waiting for MongoDB');
      await pause(pauseMs);
    }
  }
}
