/** Metrics and spans of each service's store and queue. */
import type { Bus } from '#libs/events';
import type { Command, PublishWrapper, Store, StoreInstrumentation } from '#libs/store';
import type { Meters } from './metric-registry.ts';
import { mongoCommands, serviceMetrics } from './process-metrics.ts';
import type { Tracing } from './tracing.ts';

const commands = new Map<string, (typeof mongoCommands)[number]>(mongoCommands.map((name) => [name, name]));

/**
 * Creates the instrumentation of a store: it measures MongoDB commands and waits for a connection, and adds
 * commands and events to the current unit of work.
 */
export function createStoreInstrumentation(
  meters: Meters,
  tracing: Pick<Tracing, 'recordCommand' | 'recordPublishedEvents'>,
): StoreInstrumentation {
  const observeCommand = meters.histogram(serviceMetrics.commands);
  const observePoolWait = meters.histogram(serviceMetrics.poolWait);
  return {
    eventsPublished: tracing.recordPublishedEvents,
    command(command: Command) {
      const { name, isFailed, durationMs } = command;
      tracing.recordCommand(command);
      const outcome = isFailed ? 'failed' : 'ok';
      observeCommand({ command: commands.get(name) ?? 'other', outcome }, durationMs / 1000);
    },
    connectionWaited: (ms) => observePoolWait({}, ms / 1000),
  };
}

/** Creates the wrapper that publishes each event in its own span. Consumers continue from that span. */
export function createPublishSpans(
  { withSpan, currentTraceparent }: Pick<Tracing, 'withSpan' | 'currentTraceparent'>,
  messagingSystem: Bus['messagingSystem'],
): PublishWrapper {
  return (event, publish) => {
    // tracing was off when the event was written
    if (event.trace === undefined) return publish(event);
    const attributes = { 'messaging.system': messagingSystem, 'messaging.message.id': event.id };
    return withSpan({ name: `publish ${event.type}`, kind: 'producer', from: event.trace, attributes }, () =>
      publish({ ...event, trace: currentTraceparent() ?? event.trace }),
    );
  };
}

/** Registers the metrics of a store's connection pool and outbox. */
export function registerStoreMetrics(meters: Meters, store: Pick<Store, 'backlog' | 'connections'>): void {
  meters.gauge(serviceMetrics.pool, () => {
    const { inUse, idle } = store.connections();
    return [
      [{ state: 'used' as const }, inUse],
      [{ state: 'idle' as const }, idle],
    ];
  });
  meters.gauge(serviceMetrics.poolWaiting, () => store.connections().waiting);
  let pending: ReturnType<typeof store.backlog> | undefined;
  // both metrics share one query
  const readBacklog = () =>
    (pending ??= store.backlog().finally(() => {
      pending = undefined;
    }));
  meters.gauge(serviceMetrics.outboxCount, async () => (await readBacklog()).count);
  meters.gauge(serviceMetrics.outboxAge, async () => (await readBacklog()).oldestSeconds);
}

/** Registers the metrics of a service's queue. There are no values while RabbitMQ is unreachable. */
export function registerQueueMetrics(meters: Meters, bus: Pick<Bus, 'depth'>, queue: string): void {
  meters.gauge(serviceMetrics.queue, async () => {
    const { ready, retry, dead } = await bus.depth(queue);
    return [
      [{ state: 'ready' as const }, ready],
      [{ state: 'retry' as const }, retry],
      [{ state: 'dead' as const }, dead],
    ];
  });
}
