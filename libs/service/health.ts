/** Health of a process: detailed for the management port, `ok` or `degraded` for the public. */
import type { Bus } from '#libs/events';
import type { Store } from '#libs/store';
import type { ManagementOptions } from './management.ts';

/** The public health: the status of the process and of each service, without reasons. */
export interface PublicHealth {
  status: 'ok' | 'degraded';
  services: { name: string; status: 'ok' | 'degraded' }[];
}

/** A service whose store is checked. */
interface CheckedService {
  service: { contract: { name: string } };
  store: Pick<Store, 'ping'>;
}

/** Checks the health for operators. `reasons` make the process not ready; `degraded` only delays events. */
export async function checkHealth(
  bus: Pick<Bus, 'up'>,
  services: readonly CheckedService[],
  phase: string | undefined,
) {
  const health: Awaited<ReturnType<ManagementOptions['health']>> = { reasons: {}, degraded: {} };
  if (phase !== undefined) health.reasons.process = phase;
  // requests still work: their events wait in the outbox
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
 * How long a result is reused, in milliseconds. The endpoint is public, so requests must not put load on
 * MongoDB.
 */
const cacheMs = 1_000;

/** Creates a function that returns the public health of a process. */
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
