/** Subscribers: what a service does with each type of event that it consumes. */
import { type Envelope, type EventType, envelope as envelopeShape } from '#libs/contract';
import type { Handler } from './bus.ts';
import { UnrecoverableError } from './retries.ts';

/** Handles one type of event. */
export interface Subscriber {
  readonly type: EventType;
  handle(event: Envelope): Promise<unknown>;
}

/** Creates a subscriber for an event type. `handle` gets data that matches the type's schema. */
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
      // a newer producer may add fields: they are passed through
      return handle({ ...event, data: event.data as Data });
    },
  };
}

/** Handles an event with several subscribers, all or none of which have an effect. */
export type HandleTogether = (
  event: Envelope,
  handlers: readonly ((event: Envelope) => Promise<unknown>)[],
) => Promise<unknown>;

/**
 * Creates the handler of a service's queue, which calls the subscriber of the event's type. Several subscribers of
 * one type are called by `handleTogether`. The handler throws `UnrecoverableError` for invalid envelopes and unknown
 * types.
 */
export function dispatchByType(subscribers: readonly Subscriber[], handleTogether?: HandleTogether): Handler {
  const byType = Map.groupBy(subscribers, ({ type }) => type.name);
  const shared = [...byType].find(([, { length }]) => length > 1);
  if (shared && !handleTogether) throw new Error(`${shared[0]} has several subscribers`);
  return async (event) => {
    const parsed = envelopeShape.safeParse(event);
    if (!parsed.success) throw new UnrecoverableError('Invalid event envelope', { cause: parsed.error });
    const [first, ...others] = byType.get(event.type) ?? [];
    if (!first) throw new UnrecoverableError(`No subscriber for ${event.type}`);
    if (others.length === 0) await first.handle(event);
    else
      await handleTogether?.(
        event,
        [first, ...others].map(({ handle }) => handle),
      );
  };
}
