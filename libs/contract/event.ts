/** Events: what happened, said once, heard by others; declared by the service that owns the change. */
import { z } from 'zod';
import { id, timestamp } from './shapes.ts';

/** A kind of event with the schema of its data. */
export interface EventType<Data = unknown> {
  /** Past tense with a dot, e.g. `document.published`: the routing key too. */
  readonly name: string;
  readonly description: string;
  readonly data: z.ZodType<Data>;
  /** Whether customers may subscribe a webhook to it. */
  readonly subscribable: boolean;
}

/** Declares a kind of event; `data` is checked on the way out and on the way in. */
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

/** What travels on the bus around an event's data. */
export const envelope = z.object({
  id,
  type: z.string(),
  /** Just before its change was committed. */
  occurred_at: timestamp,
  organization_id: id,
  /** The user who acted, or null for the system itself. */
  actor_id: id.nullable(),
  data: z.unknown(),
  /** W3C trace context of the change, if it was traced. */
  trace: z.string().optional(),
});

export type Envelope<Data = unknown> = Omit<z.infer<typeof envelope>, 'data'> & { data: Data };
