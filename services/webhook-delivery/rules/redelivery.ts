/** Redelivery rules: which entries of the event log may be sent again. */
import type { Problem } from '#libs/contract';
import { DeliveryPending, TestNotRepeated } from '../problems.ts';

/** Maximum number of entries that one request may redeliver, in one transaction. */
export const maxPerRequest = 1_000;

/** Event type of a test event. */
export const testType = 'webhook.test';

/** Returns why an entry cannot be redelivered now, or undefined if it can. */
export function redeliveryBlocker(entry: { event_type: string; status: string }): Problem | undefined {
  if (entry.event_type === testType) return TestNotRepeated();
  return entry.status === 'pending' ? DeliveryPending() : undefined;
}

/** Returns the first entry of each event. */
export function uniqueByEvent<Entry extends { event_id: string }>(entries: readonly Entry[]): Entry[] {
  const seen = new Set<string>();
  return entries.filter(({ event_id }) => seen.size < seen.add(event_id).size);
}
