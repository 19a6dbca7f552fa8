/** Webhooks that fail: when their creator is told, and when they are switched off. */

/** A webhook whose deliveries have all failed for so long is switched off: five days. */
export const disableAfterMs = 5 * 86_400_000;

/** It is said of a webhook at most once in so long that deliveries failed. */
export const notifyIntervalMs = 60_000;

/** What the log says of a webhook when one more delivery has failed. */
export interface EndpointHealth {
  /** When the last delivery succeeded; nothing when none did. */
  readonly delivered: Date | undefined;
  /** When the first of the deliveries that failed since then was begun. */
  readonly firstFailed: Date | undefined;
}

/** Whether all deliveries have failed for so long that the webhook is switched off. */
export function shouldDisable({ delivered, firstFailed }: EndpointHealth, at: Date): boolean {
  const limit = at.getTime() - disableAfterMs;
  if (delivered && delivered.getTime() > limit) return false;
  return firstFailed !== undefined && firstFailed.getTime() <= limit;
}

/** Whether it may be said again that deliveries failed. */
export function shouldNotify(
  { notified_at }: { readonly notified_at?: Date | undefined },
  at: Date,
): boolean {
  return !notified_at || at.getTime() - notified_at.getTime() >= notifyIntervalMs;
}
