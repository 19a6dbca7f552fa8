/** Listeners: what a service does when it hears an event. */
import { type Envelope, type EventType, envelope as envelopeShape } from '#libs/contract';
import type { Handler } from './bus.ts';
import { UnrecoverableError } from './retries.ts';

/** What to do on one type of event. */
export interface Subscriber {
  readonly type: EventType;
  handle(event: Envelope): Promise<unknown>;
}

/** Says what to do on a type of event; the data has been checked against its schema. */
export function on<Data>(
  type: EventType<Data>,
  handle: (event: Envelope<Data>) => Promise<unknown>,
): Subscriber {
  return {
    type,
    handle(event) {
      const parsed = type.data.safeParse(event.data);
      if (parsed.success) return handle({ ...event, data: parsed.data });
      const isNewer = parsed.error.issues.every(({ code }) => code === 'unrecognized_keys');
      if (!isNewer)
        throw new UnrecoverableError(`${type.name} ${event.id} does not fit its schema`, {
          cause: parsed.error,
        });
      // a newer producer says more than this consumer knows: what it knows fits, and the rest is carried along
      return handle({ ...event, data: event.data as Data });
    },
  };
}

/** One handler for a service's queue: finds the listener by type; garbage and unknown types are hopeless. */
export function dispatchByType(subscribers: readonly Subscriber[]): Handler {
  const byType = new Map(subscribers.map((one) => [one.type.name, one]));
  return async (event) => {
    const parsed = envelopeShape.safeParse(event);
    if (!parsed.success) throw new UnrecoverableError('This is no event envelope', { cause: parsed.error });
    const one = byType.get(event.type);
    if (!one) throw new UnrecoverableError(`Nobody here hears ${event.type}`);
    await one.handle(event);
  };
}
