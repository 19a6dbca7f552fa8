/** Sending again: which entries of the log may be. */
import type { Problem } from '#libs/contract';
import { DeliveryPending, TestNotRepeated } from '../problems.ts';

/** At most this many entries are made at a time, in one transaction. */
export const maxPerRequest = 1_000;

/** The type of what a test of a webhook sends. */
export const testType = 'webhook.test';

/** Why an entry cannot be sent again now; nothing when it can. */
export function redeliveryBlocker(entry: { event_type: string; status: string }): Problem | undefined {
  if (entry.event_type === testType) return TestNotRepeated();
  return entry.status === 'pending' ? DeliveryPending() : undefined;
}

/** One of each event, the first. */
export function uniqueByEvent<Entry extends { event_id: string }>(entries: readonly Entry[]): Entry[] {
  const seen = new Set<string>();
  return entries.filter(({ event_id }) => seen.size < seen.add(event_id).size);
}
