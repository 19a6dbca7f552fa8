/**
 * Event types. The service that owns a change declares and publishes the event; other services consume it.
 */
import { z } from 'zod';
import { id, timestamp } from './shapes.ts';

/** An event type with the schema of its data. */
export interface EventType<Data = unknown> {
  /** Resource and verb in the past tense, e.g. `document.published`. Also the routing key. */
  readonly name: string;
  readonly description: string;
  readonly data: z.ZodType<Data>;
  /** Whether a webhook can subscribe to it. */
  readonly subscribable: boolean;
}

/** Declares an event type. `data` is validated when the event is published and when it is consumed. */
export function event<Data>(
  name: string,
  {
    description,
    data,
    subscribable = false,
  }: Pick<EventType<Data>, 'description' | 'data'> & {
    subscribable?: boolean;
  },
): EventType<Data> {
  return { name, description, data, subscribable };
}

/** The message format on the bus: an event's data with its metadata. */
export const envelope = z.object({
  id,
  type: z.string(),
  /** When the change was made, shortly before it was committed. */
  occurred_at: timestamp,
  organization_id: id,
  /** The user who made the change, or null if the system made it. */
  actor_id: id.nullable(),
  /** The API key with which the change was made, if it was one. */
  api_key_id: id.optional(),
  /** The `X-Request-Id` of the request that made the change, if it was a request. */
  request_id: z.string().optional(),
  /** The version of the organization to which names in the data belong, if they may be renamed. Not in webhooks. */
  organization_version: z.number().optional(),
  data: z.unknown(),
  /** W3C `traceparent` of the change, if it was traced. */
  trace: z.string().optional(),
});

/** An event with typed data. */
export type Envelope<Data = unknown> = Omit<z.infer<typeof envelope>, 'data'> & { data: Data };
