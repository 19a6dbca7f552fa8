/** How a service hears: its listeners as the handler of its queue. */
import { type Handler, type Listener, listener, NotNow } from '#libs/events';
import { isUnavailable } from '#libs/store';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

/** The handler of a service's queue, which counts and logs how it went. */
export function heard(
  { metrics, log }: { metrics: Metrics; log: Log },
  service: string,
  listeners: readonly Listener[],
): Handler {
  const handler = listener(listeners);
  const known = new Set(listeners.map(({ type }) => type.name));
  return async (event, signal) => {
    // garbage must not make a metric of its own
    const type = known.has(event.type) ? event.type : 'unknown';
    try {
      await handler(event, signal);
      metrics.event(service, type, 'handled');
      log.debug({ service, event: event.type, event_id: event.id }, 'Event handled');
    } catch (error) {
      metrics.event(service, type, 'failed');
      log.warn({ service, event: event.type, event_id: event.id, err: error }, 'Event not handled');
      throw isUnavailable(error) ? new NotNow(error) : error;
    }
  };
}
