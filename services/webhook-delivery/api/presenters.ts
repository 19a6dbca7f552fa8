/** Maps rows to what clients see. */
import type { Secret } from '#libs/contract';
import type {
  ListenedEvent,
  Webhook,
  WebhookAttempt,
  WebhookEvent,
  WebhookEventDetails,
} from '../contract.ts';
import { toHeaders, toRedactedHeaders } from '../rules/message.ts';
import type { ConfigRow, DeliveryRow, ListenerEventRow, LoggedAttempt } from '../store/collections.ts';

/** Maps a row to a webhook. */
export function toWebhook(row: ConfigRow): Webhook {
  return {
    id: row._id,
    organization_id: row.organization_id,
    created_by: row.created_by,
    name: row.name,
    url: row.url,
    // only validated event types are stored
    event_types: row.event_types as Webhook['event_types'],
    is_active: row.is_active,
    created_at: row.created_at.toISOString(),
  };
}

/** Maps a row to an entry of the event log. */
export function toEntry(row: DeliveryRow): WebhookEvent {
  return {
    id: row._id,
    event_type: row.event_type,
    direction: 'outbound',
    status: row.status,
    attempts: row.attempts,
    created_at: row.created_at.toISOString(),
    config_id: row.config_id,
    event_id: row.event_id,
    document_id: row.document_id,
    http_status: row.http_status,
    duration_ms: row.duration_ms,
    error: row.error,
    next_attempt_at: row.due_at?.toISOString() ?? null,
    updated_at: row.updated_at.toISOString(),
  };
}

/** Maps a row and the body of its event to an entry of the event log with its requests. */
export function toDetails(row: DeliveryRow, request_body: string | null): WebhookEventDetails {
  const attempts = row.attempt_log ?? [];
  return { ...toEntry(row), request_body, attempt_log: attempts.map((attempt) => toAttempt(row, attempt)) };
}

function toAttempt({ _id, event_id, event_type }: DeliveryRow, logged: LoggedAttempt): WebhookAttempt {
  const { attempt, started_at, duration_ms, http_status, error, traceparent } = logged;
  const ids = { eventId: event_id, eventType: event_type, deliveryId: _id };
  const headers = toRedactedHeaders({ ...ids, attempt, at: started_at });
  return {
    attempt,
    started_at: started_at.toISOString(),
    duration_ms,
    http_status,
    error,
    request_headers: { ...headers, ...(traceparent !== undefined && { traceparent }) },
    response: logged.response ?? null,
    response_withheld: logged.response_withheld ?? false,
  };
}

/** Maps an event of a listener to a request that its client can forward, signed at this time. */
export function toListenedEvent(
  { _id, event_id, event_type, body, trace }: ListenerEventRow,
  secret: Secret,
  at: Date,
): ListenedEvent {
  const ids = { eventId: event_id, eventType: event_type, deliveryId: _id, attempt: 1 };
  const headers = toHeaders({ ...ids, body, secrets: [secret], at });
  const traced = trace !== undefined && { traceparent: trace };
  return { event_id, event_type, headers: { ...headers, ...traced }, body };
}
