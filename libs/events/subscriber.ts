/** Subscribers: what a service does with each type of event that it consumes. */
import { type Envelope, type EventType, envelope as envelopeShape } from '#libs/contract';
import type { Handler } from './bus.ts';
import { UnrecoverableError } from './retries.ts';

/** Handles one type of event. */
export interface Subscriber {
  readonly type: EventType;
  /** Whether `handle` recognizes a repeated event without the inbox, which has one row for all subscribers. */
  readonly isIdempotent: boolean;
  handle(event: Envelope): Promise<unknown>;
}

/** Creates a subscriber for an event type. `handle` gets data that matches the type's schema. */
export function on<Data>(
  type: EventType<Data>,
  handle: (event: Envelope<Data>) => Promise<unknown>,
  { isIdempotent = false }: Partial<Pick<Subscriber, 'isIdempotent'>> = {},
): Subscriber {
  return {
    type,
    isIdempotent,
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

/**
 * Creates the handler of a service's queue, which calls all subscribers of the event's type. If one of them fails, the
 * event is handled again: at most one may therefore use the inbox, the others must be idempotent. The handler throws
 * `UnrecoverableError` for invalid envelopes and unknown types.
 */
export function dispatchByType(subscribers: readonly Subscriber[]): Handler {
  const byType = Map.groupBy(subscribers, ({ type }) => type.name);
  for (const [name, group] of byType)
    if (group.filter(({ isIdempotent }) => !isIdempotent).length > 1)
      throw new Error(`${name} has several subscribers that are not idempotent`);
  return async (event) => {
    const parsed = envelopeShape.safeParse(event);
    if (!parsed.success) throw new UnrecoverableError('Invalid event envelope', { cause: parsed.error });
    const group = byType.get(event.type);
    if (!group) throw new UnrecoverableError(`No subscriber for ${event.type}`);
    const results = await Promise.allSettled(group.map(async ({ handle }) => handle(event)));
    const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    // an event that one subscriber can never handle is handled again for the others first
    if (errors.length > 0) throw errors.find((error) => !(error instanceof UnrecoverableError)) ?? errors[0];
  };
}
