/**
 * How events are carried: over RabbitMQ where there is one, else within the process if all who hear are in
 * it.
 */
import type { Contract } from '#libs/contract';
import { amqpBus, type Bus, memoryBus, toTopology } from '#libs/events';
import type { Store } from '#libs/store';
import type { Log } from './log.ts';
import type { CommonSettings } from './settings.ts';

/**
 * How far back events are sent again when the broker has lost what it was given; inboxes remember for longer.
 */
const republishWindowMs = 6 * 3_600_000;

/** A bus and how it may be used. */
export interface EventBus {
  bus: Bus;
  /** Whether nobody outside of this process publishes. */
  isSolePublisher: boolean;
}

/** The bus that the settings ask for; `stores` resolves when those of this process are open. */
export function createEventBus({
  settings,
  log,
  owners,
  stores,
  contracts,
}: {
  settings: CommonSettings;
  contracts: readonly Contract[];
  /** The names of the services in this process. */
  owners: readonly string[];
  stores: Promise<readonly Store[]>;
  log: Log;
}): EventBus {
  const topology = toTopology(contracts);
  if (!settings.AMQP_URL) return { bus: memoryBus(topology), isSolePublisher: true };
  const bus = amqpBus({
    url: settings.AMQP_URL,
    prefix: settings.AMQP_PREFIX,
    topology,
    owners,
    async onBrokerReset() {
      const counts = await Promise.all((await stores).map((store) => store.republish(republishWindowMs)));
      const events = counts.reduce((sum, count) => sum + count, 0);
      if (events > 0) log.warn({ events }, 'RabbitMQ came back empty: recent events are sent again');
    },
    onError: (what, error) => log.warn({ err: error }, what),
  });
  return { bus, isSolePublisher: false };
}

/** What is wrong about a process without RabbitMQ: somebody outside of it is to hear its events. */
export function missingBrokerError(
  contracts: readonly Contract[],
  localServices: readonly string[],
  environment: Record<string, string | undefined>,
): string[] {
  if (environment.AMQP_URL) return [];
  const isElsewhere = [...toTopology(contracts).keys()].some((queue) => !localServices.includes(queue));
  return isElsewhere ? ['AMQP_URL: is required when services run in several processes'] : [];
}
