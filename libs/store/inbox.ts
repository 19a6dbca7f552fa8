/** The inbox: the ids of handled events, so that a second delivery has no effect. */
import { z } from 'zod';
import { collection } from './collection.ts';

/** A handled event. */
const row = z.object({
  /** The event's id. */
  _id: z.string(),
  handled_at: z.date(),
});
export type InboxRow = z.infer<typeof row>;

/**
 * Declares the inbox of a service. Ids are kept for eight days, one day longer than events can be
 * republished.
 */
export function inboxCollection(service: string) {
  return collection(`${service.replaceAll('-', '_')}_inbox`, {
    row,
    indexes: [{ on: { handled_at: 1 }, options: { expireAfterSeconds: 8 * 86_400 } }],
  });
}
