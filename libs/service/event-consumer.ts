/** How a service hears: its listeners as the handler of its queue. */
import type { Envelope } from '#libs/contract';
import {
  type Bus,
  type ConsumeOptions,
  DependencyUnavailable,
  dispatchByType,
  type Handler,
  type Subscriber,
} from '#libs/events';
import { isUnavailable } from '#libs/store';
import type { Log } from './log.ts';
import type { Meters } from './meters.ts';
import { serviceMetrics } from './process-metrics.ts';
import type { Tracing } from './tracing.ts';

/** What hearing needs. */
export interface ConsumeDeps {
  meters: Meters;
  log: Log;
  now: () => Date;
  tracing: Pick<Tracing, 'withSpan' | 'current' | 'workStats'>;
  messagingSystem: Bus['messagingSystem'];
}

/** The handler of a service's queue and what it is told, which count and log how it went. */
export function consumeEvents(
  { meters, log, now, tracing, messagingSystem }: ConsumeDeps,
  service: string,
  listeners: readonly Subscriber[],
): { handler: Handler } & Pick<ConsumeOptions, 'onDeadLetter'> {
  const handler = dispatchByType(listeners);
  const known = new Set(listeners.map(({ type }) => type.name));
  // garbage must not make a metric of its own
  const typeOf = ({ type }: { readonly type?: unknown }) =>
    typeof type === 'string' && known.has(type) ? type : 'unknown';
  const tries = meters.counter(serviceMetrics.events);
  const aside = meters.counter(serviceMetrics.deadLettered);
  const took = meters.histogram(serviceMetrics.handlingTime);
  const age = meters.histogram(serviceMetrics.age);
  return {
    onDeadLetter: (event) => aside({ type: typeOf(event) }),
    handler: (event, signal) => {
      const type = typeOf(event);
      const attributes = {
        'messaging.system': messagingSystem,
        'messaging.message.id': nameIn(event.id),
        'pds.service': service,
      };
      return tracing.withSpan(
        { name: `process ${type}`, kind: 'consumer', from: event.trace, attributes },
        () => heardOne(type, event, signal),
      );
    },
  };

  async function heardOne(type: string, event: Envelope, signal: AbortSignal): Promise<void> {
    const startedAt = performance.now();
    const line = (status: 'handled' | 'failed' | 'postponed') => {
      tries({ type, outcome: status });
      const durationMs = performance.now() - startedAt;
      took({ type }, durationMs / 1000);
      return {
        ...{ service, event: nameIn(event.type), event_id: nameIn(event.id), status },
        duration_ms: Math.round(durationMs * 10) / 10,
        organization_id: nameIn(event.organization_id),
        actor_id: nameIn(event.actor_id),
        ...tracing.workStats(),
      };
    };
    try {
      const traced = tracing.current();
      await handler(traced === undefined ? event : { ...event, trace: traced }, signal);
      age({ type }, Math.max(0, now().getTime() - Date.parse(event.occurred_at)) / 1000);
      log.info(line('handled'), 'Event handled');
    } catch (error) {
      const isNotNow = isUnavailable(error);
      log.warn({ ...line(isNotNow ? 'postponed' : 'failed'), err: error }, 'Event not handled');
      throw isNotNow ? new DependencyUnavailable(error) : error;
    }
  }
}

/** A name or an id as it may be logged; garbage may be anything. */
function nameIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value.slice(0, 64) : undefined;
}
