/** Attempting: one request for one delivery, and what follows from how it ended. */
import type { Log, Tracing } from '#libs/service';
import { retryAfterMs, verdictOn } from './rules/backoff.ts';
import { toHeaders } from './rules/message.ts';
import type { Sender } from './transport/sender.ts';
import type { Receiver } from './store/configs.ts';
import type { Claimed, Result, StoredEvent } from './store/queue.ts';

/** What an attempt needs. */
export interface AttemptDeps {
  sender: Pick<Sender, 'send'>;
  /** The pauses after the first and the second attempt. */
  delaysMs: readonly number[];
  now: () => Date;
  tracing: Pick<Tracing, 'withSpan' | 'current' | 'workStats' | 'setAttributes'>;
  log: Pick<Log, 'info'>;
  /** In [0, 1). */
  random: () => number;
}

/** A delivery that is ready to be sent. */
export interface DeliveryJob {
  readonly row: Claimed;
  readonly receiver: Receiver;
  readonly event: StoredEvent;
}

/** Sends a delivery whose attempt is counted, once; the receiver is told the trace of the change, if it is traced. */
export function createAttempt({
  tracing,
  log,
  now,
  sender,
  delaysMs,
  random,
}: AttemptDeps): (parcel: DeliveryJob) => Promise<Result> {
  return (parcel) => {
    const { row, event } = parcel;
    const about = {
      event_id: row.event_id,
      delivery_id: row._id,
      webhook_id: row.config_id,
      organization_id: row.organization_id,
      attempt: row.attempts,
    };
    const named = Object.entries(about).map(([name, value]) => [`pds.${name}`, value]);
    const begun = { name: `deliver ${row.event_type}`, kind: 'client', from: event.trace } as const;
    return tracing.withSpan({ ...begun, attributes: Object.fromEntries(named) }, async () => {
      const result = await attempt(parcel);
      const { http_status, duration_ms, error, verdict } = result;
      const { status } = verdict;
      tracing.setAttributes(
        {
          'http.request.method': 'POST',
          ...(http_status !== null && { 'http.response.status_code': http_status }),
        },
        error ?? undefined,
      );
      const { trace_id } = tracing.workStats();
      const line = { ...about, event: row.event_type, status, http_status, duration_ms, error, trace_id };
      log.info(line, 'Delivery attempted');
      return result;
    });
  };

  async function attempt({ row, receiver, event: { body } }: DeliveryJob): Promise<Result> {
    const { attempts: number } = row;
    const traceparent = tracing.current();
    const headers = toHeaders({
      eventId: row.event_id,
      eventType: row.event_type,
      deliveryId: row._id,
      attempt: number,
      body,
      secrets: receiver.secrets,
      at: now(),
    });
    const { retry_after, ...seen } = await sender.send({
      url: receiver.url,
      headers: { ...headers, ...(traceparent !== undefined && { traceparent }) },
      body,
    });
    const waitMs = retryAfterMs(retry_after, now().getTime());
    const tried = { number, httpStatus: seen.http_status, retryAfterMs: waitMs };
    return { verdict: verdictOn(tried, delaysMs, random()), ...seen };
  }
}

/** A delivery that is ready to be sent, or, as a stable word, why it can never be. */
export function toDeliveryJob(
  row: Claimed,
  receiver: Receiver | undefined,
  event: StoredEvent | undefined,
): DeliveryJob | string {
  if (!receiver) return 'webhook_deleted';
  if (!receiver.isActive) return 'webhook_inactive';
  if (receiver.secrets.length === 0) return 'secret_unreadable';
  return event === undefined ? 'event_expired' : { row, receiver, event };
}

/** How a delivery ends that cannot be sent. */
export function failUnsendable(error: string): Result {
  return { verdict: { status: 'failed' }, http_status: null, duration_ms: null, error };
}
