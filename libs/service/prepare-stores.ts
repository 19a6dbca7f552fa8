/**
 * Prepares the stores of a process before its services start: waits for MongoDB, creates the collections, and
 * waits for the views of other services.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { isUnavailable, type Store } from '#libs/store';
import type { Log } from './log.ts';
import type { AnyService } from './service.ts';

const maxPauseMs = 5_000;

/**
 * Opens and migrates the stores of all services. Then waits until the views that they read exist, or until
 * `signal` aborts.
 */
export async function prepareStores(
  services: readonly AnyService[],
  open: (service: AnyService) => Promise<Store>,
  log: Log,
  signal: AbortSignal,
): Promise<Store[]> {
  const stores = await Promise.all(
    services.map(async (service) => {
      const { name } = service.contract;
      const store = await retryWhileUnavailable(() => open(service), name, log, signal);
      await retryWhileUnavailable(() => store.migrate(), name, log, signal);
      return store;
    }),
  );
  for (let pauseMs = 100; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
    const missing = (
      await Promise.all(
        stores.map((store) => retryWhileUnavailable(() => store.missingViews(), 'all', log, signal)),
      )
    ).flat();
    if (missing.length === 0) return stores;
    log.info({ missing: [...new Set(missing)] }, 'Waiting for the views of other services');
    await pause(pauseMs, undefined, { signal });
  }
}

async function retryWhileUnavailable<R>(
  work: () => Promise<R>,
  service: string,
  log: Log,
  signal: AbortSignal,
): Promise<R> {
  for (let pauseMs = 250; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
    try {
      return await work();
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      log.warn({ service, err: error }, 'Waiting for MongoDB');
      await pause(pauseMs, undefined, { signal });
    }
  }
}
