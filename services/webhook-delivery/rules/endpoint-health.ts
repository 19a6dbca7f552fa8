/** Rules for failing webhooks: when the creator is notified and when the webhook is disabled. */

/** A webhook is disabled when all its deliveries have failed for this long: five days. */
export const disableAfterMs = 5 * 86_400_000;

/** Minimum time between two failure notifications of a webhook. */
export const notifyIntervalMs = 60_000;

/** Recent successes and failures of a webhook, read from the event log after another delivery failed. */
export interface EndpointHealth {
  /** When the last delivery succeeded; undefined if none did. */
  readonly delivered: Date | undefined;
  /** When the first delivery that failed since then was created. */
  readonly firstFailed: Date | undefined;
}

/** Returns whether all deliveries have failed for so long that the webhook is disabled. */
export function shouldDisable({ delivered, firstFailed }: EndpointHealth, at: Date): boolean {
  const limit = at.getTime() - disableAfterMs;
  if (delivered && delivered.getTime() > limit) return false;
  return firstFailed !== undefined && firstFailed.getTime() <= limit;
}

/** Returns whether another failure notification may be published. */
export function shouldNotify(
  { notified_at }: { readonly notified_at?: Date | undefined },
  at: Date,
): boolean {
  return !notified_at || at.getTime() - notified_at.getTime() >= notifyIntervalMs;
}

/** Returns whether a change of a webhook makes its earlier failures irrelevant: reactivation, or another URL. */
export function restartsFailureCount(
  webhook: { readonly is_active: boolean; readonly url: string },
  changes: { readonly is_active?: boolean | undefined; readonly url?: string | undefined },
): boolean {
  const isReactivated = changes.is_active === true && !webhook.is_active;
  return isReactivated || (changes.url !== undefined && changes.url !== webhook.url);
}
