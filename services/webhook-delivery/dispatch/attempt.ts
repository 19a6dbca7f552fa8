/** One attempt: sends the request of a delivery once and decides what happens next. */
import type { Log, Tracing } from '#libs/service';
import { decideRetry, parseRetryAfter } from '../rules/backoff.ts';
import { toHeaders } from '../rules/message.ts';
import type { AttemptResult, ClaimedRow, StoredEvent } from '../store/queue.ts';
import type { Receiver } from '../store/receivers.ts';
import type { Sender } from '../transport/sender.ts';

/** Dependencies of an attempt. */
export interface AttemptDeps {
  sender: Pick<Sender, 'send'>;
  /** Delays after the first and the second attempt, ms. */
  delaysMs: readonly number[];
  now: () => Date;
  tracing: Pick<Tracing, 'withSpan' | 'currentTraceparent' | 'workStats' | 'setAttributes'>;
  log: Pick<Log, 'info'>;
  /** Random number in [0, 1). */
  random: () => number;
}

/** A claimed delivery with everything needed to send it. */
export interface DeliveryJob {
  readonly row: ClaimedRow;
  readonly receiver: Receiver;
  readonly event: StoredEvent;
}

/**
 * Creates the function that sends a delivery once. The attempt must already be counted. If the change was
 * traced, the request is part of its trace and carries a `traceparent` header.
 */
export function createAttempt({
  tracing,
  log,
  now,
  sender,
  delaysMs,
  random,
}: AttemptDeps): (job: DeliveryJob) => Promise<AttemptResult> {
  return (job) => {
    const { row, event } = job;
    const ids = {
      event_id: row.event_id,
      delivery_id: row._id,
      webhook_id: row.config_id,
      organization_id: row.organization_id,
      attempt: row.attempts,
    };
    const attributes = Object.fromEntries(Object.entries(ids).map(([name, value]) => [`pds.${name}`, value]));
    const span = { name: `deliver ${row.event_type}`, kind: 'client', from: event.trace } as const;
    return tracing.withSpan({ ...span, attributes }, async () => {
      const result = await attempt(job);
      const { http_status, duration_ms, error, decision } = result;
      const { status } = decision;
      tracing.setAttributes(
        {
          'http.request.method': 'POST',
          ...(http_status !== null && { 'http.response.status_code': http_status }),
        },
        error ?? undefined,
      );
      const { trace_id } = tracing.workStats();
      const line = { ...ids, event: row.event_type, status, http_status, duration_ms, error, trace_id };
      log.info(line, 'Delivery attempted');
      return result;
    });
  };

  async function attempt({ row, receiver, event: { body } }: DeliveryJob): Promise<AttemptResult> {
    const { attempts: number } = row;
    const started_at = now();
    const traceparent = tracing.currentTraceparent();
    const headers = toHeaders({
      eventId: row.event_id,
      eventType: row.event_type,
      deliveryId: row._id,
      attempt: number,
      body,
      secrets: receiver.secrets,
      at: started_at,
    });
    const trace = traceparent !== undefined && { traceparent };
    const { retry_after, logged, ...response } = await sender.send({
      url: receiver.url,
      headers: { ...headers, ...trace },
      body,
    });
    const retryAfterMs = parseRetryAfter(retry_after, now().getTime());
    const finished = { number, httpStatus: response.http_status, retryAfterMs };
    const decision = decideRetry(finished, delaysMs, random());
    return { decision, ...response, request: { started_at, ...trace, ...logged } };
  }
}

/** A claimed delivery that cannot be sent. */
export interface UnsendableDelivery {
  readonly row: ClaimedRow;
  /** Why it can never be sent, as a stable code. */
  readonly error: string;
}

/** A claimed delivery. */
export type Delivery = DeliveryJob | UnsendableDelivery;

/** Joins a claimed row with its receiver and event. */
export function toDelivery(
  row: ClaimedRow,
  receiver: Receiver | undefined,
  event: StoredEvent | undefined,
): Delivery {
  if (!receiver) return { row, error: 'webhook_deleted' };
  if (!receiver.isActive) return { row, error: 'webhook_inactive' };
  if (receiver.secrets.length === 0) return { row, error: 'secret_unreadable' };
  return event === undefined ? { row, error: 'event_expired' } : { row, receiver, event };
}

/** Creates the result of a delivery that cannot be sent; `error` is a stable code. */
export function failUnsendable(error: string): AttemptResult {
  return { decision: { status: 'failed' }, http_status: null, duration_ms: null, error };
}
