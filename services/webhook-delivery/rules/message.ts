/** What a delivery says: the body that is made once for an event, and the headers of one attempt. */
import type { Secret } from '#libs/contract';
import { signatureHeaders } from './signature.ts';

/** An event as receivers know it. */
export interface WebhookPayload {
  readonly id: string;
  readonly type: string;
  readonly occurred_at: string;
  readonly organization_id: string;
  readonly data: unknown;
}

/** One attempt to tell it. */
export interface WebhookMessage {
  readonly eventId: string;
  readonly eventType: string;
  /** Id of the log entry. */
  readonly deliveryId: string;
  /** Which attempt it is, from 1. */
  readonly attempt: number;
  readonly body: string;
  readonly secrets: readonly Secret[];
  readonly at: Date;
}

/** The body of every attempt: JSON text, kept and never made again, so that its bytes stay the same. */
export function toBody({ id, type, occurred_at, organization_id, data }: WebhookPayload): string {
  return JSON.stringify({ id, event_type: type, timestamp: occurred_at, organization_id, data });
}

/** The headers of one attempt, signed. */
export function toHeaders(telling: WebhookMessage): Record<string, string> {
  const { eventId, eventType, deliveryId, attempt, body, secrets, at } = telling;
  return {
    'Content-Type': 'application/json',
    'User-Agent': 'Process-Document-Service-Webhooks/1',
    'X-Service-Event': eventType,
    'X-Service-Delivery': deliveryId,
    'X-Service-Attempt': String(attempt),
    ...signatureHeaders({ id: eventId, timestamp: Math.floor(at.getTime() / 1000), body, secrets }),
  };
}
