/** Attempting: one request for one delivery, and what follows from how it ended. */
import { retryAfterMs, verdictOn } from './rules/backoff.ts';
import { headersOf } from './rules/message.ts';
import type { Sender } from './sending.ts';
import type { Receiver } from './store/configs.ts';
import type { Claimed, Kept, Result } from './store/queue.ts';

/** What an attempt needs. */
export interface Attempting {
  sender: Pick<Sender, 'send'>;
  /** The pauses after the first and the second attempt. */
  delaysMs: readonly number[];
  now: () => Date;
  /** In [0, 1). */
  random: () => number;
}

/** A delivery that is ready to be sent. */
export interface Parcel {
  readonly row: Claimed;
  readonly receiver: Receiver;
  readonly event: Kept;
}

/** Sends a delivery whose attempt is counted, once. */
export function attempting(of: Attempting): (parcel: Parcel) => Promise<Result> {
  return async ({ row, receiver, event: { body } }) => {
    const { attempts: number } = row;
    const headers = headersOf({
      eventId: row.event_id,
      eventType: row.event_type,
      deliveryId: row._id,
      attempt: number,
      body,
      secrets: receiver.secrets,
      at: of.now(),
    });
    const { retry_after, ...seen } = await of.sender.send({ url: receiver.url, headers, body });
    const waitMs = retryAfterMs(retry_after, of.now().getTime());
    const tried = { number, httpStatus: seen.http_status, retryAfterMs: waitMs };
    return { verdict: verdictOn(tried, of.delaysMs, of.random()), ...seen };
  };
}

/** A delivery that is ready to be sent, or, as a stable word, why it can never be. */
export function parcelOf(
  row: Claimed,
  receiver: Receiver | undefined,
  event: Kept | undefined,
): Parcel | string {
  if (!receiver) return 'webhook_deleted';
  if (!receiver.isActive) return 'webhook_inactive';
  if (receiver.secrets.length === 0) return 'secret_unreadable';
  return event === undefined ? 'event_expired' : { row, receiver, event };
}

/** How a delivery ends that cannot be sent. */
export function unsendable(error: string): Result {
  return { verdict: { status: 'failed' }, http_status: null, duration_ms: null, error };
}
