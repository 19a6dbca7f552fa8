/** How a service hears: its listeners as the handler of its queue. */
import { type Handler, type Hearing, type Listener, listener, NotNow } from '#libs/events';
import { isUnavailable } from '#libs/store';
import type { Log } from './log.ts';
import type { Meters } from './meters.ts';
import { ofEachService } from './process-metrics.ts';

/** The handler of a service's queue and what it is told, which count and log how it went. */
export function heard(
  { meters, log, now }: { meters: Meters; log: Log; now: () => Date },
  service: string,
  listeners: readonly Listener[],
): { handler: Handler } & Pick<Hearing, 'setAside'> {
  const handler = listener(listeners);
  const known = new Set(listeners.map(({ type }) => type.name));
  // garbage must not make a metric of its own
  const typeOf = ({ type }: { readonly type?: unknown }) =>
    typeof type === 'string' && known.has(type) ? type : 'unknown';
  const tries = meters.counter(ofEachService.events);
  const aside = meters.counter(ofEachService.setAside);
  const took = meters.histogram(ofEachService.handlingTime);
  const age = meters.histogram(ofEachService.age);
  return {
    setAside: (event) => aside({ type: typeOf(event) }),
    async handler(event, signal) {
      const type = typeOf(event);
      const startedAt = performance.now();
      try {
        await handler(event, signal);
        tries({ type, outcome: 'handled' });
        age({ type }, Math.max(0, now().getTime() - Date.parse(event.occurred_at)) / 1000);
        log.debug({ service, event: event.type, event_id: event.id }, 'Event handled');
      } catch (error) {
        const isNotNow = isUnavailable(error);
        tries({ type, outcome: isNotNow ? 'postponed' : 'failed' });
        log.warn({ service, event: event.type, event_id: event.id, err: error }, 'Event not handled');
        throw isNotNow ? new NotNow(error) : error;
      } finally {
        took({ type }, (performance.now() - startedAt) / 1000);
      }
    },
  };
}
