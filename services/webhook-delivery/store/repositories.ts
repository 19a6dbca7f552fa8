/** All repositories of webhook delivery. */
import type { Store } from '#libs/store';
import { createConfigs } from './configs.ts';
import { createFailures } from './failures.ts';
import { createListenerEvents } from './listener-events.ts';
import { createListeners } from './listeners.ts';
import { createEventLog } from './log.ts';
import { createNewDeliveries } from './new-deliveries.ts';
import { createQueue } from './queue.ts';
import { createReceivers } from './receivers.ts';
import { createRedeliveries } from './redeliveries.ts';
import { createWaitingDeliveries } from './waiting-deliveries.ts';

/** Creates the repositories. `lockMs` is how long a row stays locked after its claim. */
export function createRepositories(store: Store, { now, lockMs }: { now: () => Date; lockMs: number }) {
  return {
    configs: createConfigs(store, now),
    failures: createFailures(store),
    eventLog: createEventLog(store, now),
    listenerEvents: createListenerEvents(store, now),
    listeners: createListeners(store, now),
    newDeliveries: createNewDeliveries(store, now, lockMs),
    queue: createQueue(store, lockMs),
    receivers: createReceivers(store, now),
    redeliveries: createRedeliveries(store, now),
    waiting: createWaitingDeliveries(store),
  };
}
