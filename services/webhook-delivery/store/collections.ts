/** MongoDB collections of webhook delivery: fields, indexes and sealed fields. */
import { collection, type SealedField } from '#libs/store';
import type { DeliveryStatus } from '../contract.ts';

const logSeconds = 90 * 86_400;

/** A webhook of an organization. */
export interface ConfigRow {
  _id: string;
  organization_id: string;
  created_by: string;
  name: string;
  url: string;
  event_types: string[];
  is_active: boolean;
  /** Newest first. Older secrets keep signing until they expire. */
  secrets: SealedSecret[];
  /** Earlier failures do not count: when the webhook was created, enabled again or got another URL. */
  failures_counted_from?: Date;
  /** When the last failure notification was published. */
  notified_at?: Date;
  created_at: Date;
  updated_at: Date;
}

/** An encrypted secret of a webhook. */
export interface SealedSecret {
  sealed: string;
  /** When it stops signing and may be deleted; null if it does not expire. */
  until: Date | null;
}

/** The payload of an event, stored once for all webhooks and attempts. */
export interface EventRow {
  /** The event's id. */
  _id: string;
  organization_id: string;
  /** The body as JSON text. Its UTF-8 bytes are signed and sent. */
  body: string;
  /** Time of the change; absent for test events. */
  occurred_at?: Date;
  /** W3C trace context of the change, if it was traced. */
  trace?: string;
  /** Webhooks that get the event. Absent if its deliveries were inserted in the same transaction. */
  recipient_ids?: string[];
  created_at: Date;
}

/** The delivery of one event to one webhook: the log entry and the schedule in one row. */
export interface DeliveryRow {
  _id: string;
  event_id: string;
  event_type: string;
  document_id: string | null;
  config_id: string;
  organization_id: string;
  /** Set for the first delivery of an event to a webhook, and absent for a redelivery. */
  is_first?: true;
  /**
   * Whether `redeliverFailedEvents` includes it after it failed. False for tests and already redelivered
   * rows.
   */
  redeliverable: boolean;
  status: DeliveryStatus;
  /** Number of attempts, counted before each request. */
  attempts: number;
  /** When the next attempt is due; absent while the row is leased and after its final status. */
  due_at?: Date;
  /** Set while the row waits for an open circuit breaker instead of its own retry delay. */
  postponed?: true;
  shard: number;
  /** Token of the current claim. Every later step of the claim must match it. */
  lock_token?: string;
  locked_until?: Date;
  /** Set when the delivery has failed, until the failure notification is published. */
  notification_pending?: true;
  http_status: number | null;
  duration_ms: number | null;
  error: string | null;
  created_at: Date;
  updated_at: Date;
}

const text = { type: String, required: true } as const;

/** The encrypted secrets in `webhook_configs`. */
export const sealedSecrets: SealedField<object> = {
  path: 'secrets.sealed',
  context: () => 'webhook_configs.secret',
};

export const webhookConfigs = collection<ConfigRow>('webhook_configs', {
  fields: {
    _id: String,
    organization_id: text,
    created_by: text,
    name: text,
    url: text,
    event_types: [String],
    is_active: Boolean,
    secrets: [{ _id: false, sealed: String, until: Date }],
    failures_counted_from: Date,
    notified_at: Date,
    created_at: Date,
    updated_at: Date,
  },
  indexes: [
    { on: { organization_id: 1, _id: 1 } },
    {
      on: { 'secrets.until': 1 },
      options: { partialFilterExpression: { 'secrets.until': { $type: 'date' } } },
    },
  ],
  sealed: [sealedSecrets],
});

export const webhookEvents = collection<EventRow>('webhook_events', {
  fields: {
    _id: String,
    organization_id: text,
    body: text,
    occurred_at: Date,
    trace: String,
    recipient_ids: { type: [String], default: undefined },
    created_at: Date,
  },
  indexes: [{ on: { created_at: 1 }, options: { expireAfterSeconds: logSeconds } }],
});

export const webhookDeliveries = collection<DeliveryRow>('webhook_deliveries', {
  fields: {
    _id: String,
    event_id: text,
    event_type: text,
    document_id: String,
    config_id: text,
    organization_id: text,
    is_first: Boolean,
    redeliverable: Boolean,
    status: text,
    attempts: Number,
    due_at: Date,
    postponed: Boolean,
    shard: Number,
    lock_token: String,
    locked_until: Date,
    notification_pending: Boolean,
    http_status: Number,
    duration_ms: Number,
    error: String,
    created_at: Date,
    updated_at: Date,
  },
  indexes: [
    {
      on: { shard: 1, due_at: 1, config_id: 1 },
      options: { partialFilterExpression: { due_at: { $exists: true } } },
    },
    { on: { status: 1, locked_until: 1 }, options: { partialFilterExpression: { status: 'pending' } } },
    { on: { config_id: 1, status: 1, created_at: -1, _id: -1 } },
    {
      on: { config_id: 1, created_at: 1, _id: 1 },
      options: { partialFilterExpression: { status: 'failed', redeliverable: true } },
    },
    {
      on: { notification_pending: 1, config_id: 1, _id: -1 },
      options: { partialFilterExpression: { notification_pending: true } },
    },
    // includes event_type so that a filter by type skips other entries without reading them
    { on: { organization_id: 1, created_at: -1, _id: -1, event_type: 1 } },
    {
      on: { organization_id: 1, created_at: -1, _id: -1 },
      options: { partialFilterExpression: { status: 'failed' } },
    },
    {
      on: { event_id: 1, config_id: 1 },
      options: { unique: true, partialFilterExpression: { is_first: true } },
    },
    { on: { created_at: 1 }, options: { expireAfterSeconds: logSeconds } },
  ],
});
