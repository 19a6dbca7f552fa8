/** Webhook messages: the body of an event, serialized once, and the headers of each attempt. */
import type { Secret } from '#libs/contract';
import { createSignatureHeaders } from './signature.ts';

/** An event in the form that receivers get. */
export interface WebhookPayload {
  readonly id: string;
  readonly type: string;
  readonly occurred_at: string;
  readonly organization_id: string;
  readonly data: unknown;
}

/** The input for the headers of one attempt. */
export interface WebhookMessage {
  readonly eventId: string;
  readonly eventType: string;
  /** Id of the log entry. */
  readonly deliveryId: string;
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  readonly body: string;
  readonly secrets: readonly Secret[];
  readonly at: Date;
}

/**
 * Returns the body as JSON text. It is stored and never serialized again, so all attempts send the same
 * bytes.
 */
export function toBody({ id, type, occurred_at, organization_id, data }: WebhookPayload): string {
  return JSON.stringify({ id, event_type: type, timestamp: occurred_at, organization_id, data });
}

/** Returns the headers of one attempt, including its signatures. */
export function toHeaders(message: WebhookMessage): Record<string, string> {
  const { eventId, eventType, deliveryId, attempt, body, secrets, at } = message;
  return {
    'Content-Type': 'application/json',
    'User-Agent': 'Process-Document-Service-Webhooks/1',
    'X-Service-Event': eventType,
    'X-Service-Delivery': deliveryId,
    'X-Service-Attempt': String(attempt),
    ...createSignatureHeaders({ id: eventId, timestamp: Math.floor(at.getTime() / 1000), body, secrets }),
  };
}

const redacted = '[redacted]';

/** Returns the headers of one attempt for the event log, without its signatures. */
export function toRedactedHeaders(message: Omit<WebhookMessage, 'body' | 'secrets'>): Record<string, string> {
  return {
    ...toHeaders({ ...message, body: '', secrets: [] }),
    'X-Service-Signature': redacted,
    'webhook-signature': redacted,
  };
}
