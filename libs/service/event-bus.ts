/** Chooses the event bus of a process: RabbitMQ if it is configured, else an in-memory bus. */
import type { Contract } from '#libs/contract';
import { amqpBus, type Bus, memoryBus, toTopology } from '#libs/events';
import type { Store } from '#libs/store';
import type { Log } from './log.ts';
import type { CommonSettings } from './settings.ts';

/**
 * How far back events are published again after RabbitMQ lost its queues. Inboxes remember event ids for
 * longer, so consumers ignore duplicates.
 */
const republishWindowMs = 6 * 3_600_000;

/** The bus of a process. */
export interface EventBus {
  bus: Bus;
  /** Whether no other process publishes events of these services. */
  isSolePublisher: boolean;
}

/** Creates the bus that the settings ask for. `stores` resolves when the stores of this process are open. */
export function createEventBus({
  settings,
  log,
  owners,
  stores,
  contracts,
}: {
  settings: CommonSettings;
  contracts: readonly Contract[];
  /** Names of the services in this process. */
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
      if (events > 0) log.warn({ events }, 'RabbitMQ lost its queues; publishing recent events again');
    },
    onError: (message, error) => log.warn({ err: error }, message),
  });
  return { bus, isSolePublisher: false };
}

/**
 * Returns a settings error if RabbitMQ is not configured although a service in another process consumes
 * events.
 */
export function missingBrokerError(
  contracts: readonly Contract[],
  localServices: readonly string[],
  environment: Record<string, string | undefined>,
): string[] {
  if (environment.AMQP_URL) return [];
  const isElsewhere = [...toTopology(contracts).keys()].some((queue) => !localServices.includes(queue));
  return isElsewhere ? ['AMQP_URL: is required when services run in several processes'] : [];
}
