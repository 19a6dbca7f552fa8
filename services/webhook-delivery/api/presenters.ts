/** Maps rows to what clients see. */
import type { Webhook, WebhookEvent } from '../contract.ts';
import type { ConfigRow, DeliveryRow } from '../store/collections.ts';

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
