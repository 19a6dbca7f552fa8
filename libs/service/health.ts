/** How a process is: in detail for the management port, in two words for everybody. */
import type { Bus } from '#libs/events';
import type { Store } from '#libs/store';
import type { ManagementOptions } from './management.ts';

/** What strangers may know of a process: whether each of its services and the whole work as they should. */
export interface PublicHealth {
  status: 'ok' | 'degraded';
  services: { name: string; status: 'ok' | 'degraded' }[];
}

/** A service whose health is asked for. */
interface CheckedService {
  service: { contract: { name: string } };
  store: Pick<Store, 'ping'>;
}

/** What is wrong, for operators: reasons not to send requests, and what only delays events. */
export async function checkHealth(
  bus: Pick<Bus, 'up'>,
  services: readonly CheckedService[],
  phase: string | undefined,
) {
  const health: Awaited<ReturnType<ManagementOptions['health']>> = { reasons: {}, degraded: {} };
  if (phase !== undefined) health.reasons.process = phase;
  // requests are answered all the same: their events wait in the outbox
  if (!bus.up) health.degraded.events = 'the event bus is down';
  await Promise.all(
    services.map(({ service, store }) =>
      store.ping().catch(() => {
        health.reasons[service.contract.name] = 'MongoDB does not answer';
      }),
    ),
  );
  return health;
}

/**
 * Anyone may ask: within this time all get the same result, so that requests do not become load on MongoDB.
 */
const cacheMs = 1_000;

/** Makes the function that gives the health of a process without its reasons. */
export function createPublicHealth(
  bus: Pick<Bus, 'up'>,
  getServices: () => readonly CheckedService[],
): () => Promise<PublicHealth> {
  let last: { at: number; health: Promise<PublicHealth> } | undefined;
  return () => {
    const at = performance.now();
    if (!last || at - last.at > cacheMs) last = { at, health: check() };
    return last.health;
  };

  async function check(): Promise<PublicHealth> {
    const { reasons, degraded } = await checkHealth(bus, getServices(), undefined);
    const isOk = Object.keys(reasons).length + Object.keys(degraded).length === 0;
    return {
      status: isOk ? 'ok' : 'degraded',
      services: getServices().map(({ service: { contract } }) => ({
        name: contract.name,
        status: contract.name in reasons ? 'degraded' : 'ok',
      })),
    };
  }
}
