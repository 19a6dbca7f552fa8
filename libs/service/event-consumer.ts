/** Consumes the queue of a service: dispatches events to subscribers, with metrics, logs and spans. */
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
import type { Meters } from './metric-registry.ts';
import { serviceMetrics } from './process-metrics.ts';
import type { Tracing } from './tracing.ts';

/** Dependencies of `consumeEvents`. */
export interface ConsumeDeps {
  meters: Meters;
  log: Log;
  now: () => Date;
  tracing: Pick<Tracing, 'withSpan' | 'currentTraceparent' | 'workStats'>;
  messagingSystem: Bus['messagingSystem'];
}

/**
 * Returns the handler of a service's queue, which counts and logs every attempt, and `onDeadLetter`, which
 * counts dead letters.
 */
export function consumeEvents(
  { meters, log, now, tracing, messagingSystem }: ConsumeDeps,
  service: string,
  subscribers: readonly Subscriber[],
): { handler: Handler } & Pick<ConsumeOptions, 'onDeadLetter'> {
  const handler = dispatchByType(subscribers);
  const known = new Set(subscribers.map(({ type }) => type.name));
  // an unknown type must not create a separate time series
  const toTypeLabel = ({ type }: { readonly type?: unknown }) =>
    typeof type === 'string' && known.has(type) ? type : 'unknown';
  const countAttempt = meters.counter(serviceMetrics.events);
  const countDeadLetter = meters.counter(serviceMetrics.deadLettered);
  const observeDuration = meters.histogram(serviceMetrics.handlingTime);
  const observeAge = meters.histogram(serviceMetrics.age);
  return {
    onDeadLetter: (event) => countDeadLetter({ type: toTypeLabel(event) }),
    handler: (event, signal) => {
      const type = toTypeLabel(event);
      const attributes = {
        'messaging.system': messagingSystem,
        'messaging.message.id': toLoggableText(event.id),
        'pds.service': service,
      };
      return tracing.withSpan(
        { name: `process ${type}`, kind: 'consumer', from: event.trace, attributes },
        () => handleEvent(type, event, signal),
      );
    },
  };

  async function handleEvent(type: string, event: Envelope, signal: AbortSignal): Promise<void> {
    const startedAt = performance.now();
    const record = (status: 'handled' | 'failed' | 'postponed') => {
      countAttempt({ type, outcome: status });
      const durationMs = performance.now() - startedAt;
      observeDuration({ type }, durationMs / 1000);
      return {
        ...{ service, event: toLoggableText(event.type), event_id: toLoggableText(event.id), status },
        duration_ms: Math.round(durationMs * 10) / 10,
        organization_id: toLoggableText(event.organization_id),
        actor_id: toLoggableText(event.actor_id),
        ...tracing.workStats(),
      };
    };
    try {
      const traceparent = tracing.currentTraceparent();
      await handler(traceparent === undefined ? event : { ...event, trace: traceparent }, signal);
      observeAge({ type }, Math.max(0, now().getTime() - Date.parse(event.occurred_at)) / 1000);
      log.info(record('handled'), 'Event handled');
    } catch (error) {
      const isPostponed = isUnavailable(error);
      log.warn({ ...record(isPostponed ? 'postponed' : 'failed'), err: error }, 'Event not handled');
      throw isPostponed ? new DependencyUnavailable(error) : error;
    }
  }
}

/** Returns a name or id for the log, at most 64 characters. A malformed event may contain anything. */
function toLoggableText(value: unknown): string | undefined {
  return typeof value === 'string' ? value.slice(0, 64) : undefined;
}
