/** What webhook delivery keeps in MongoDB: its collections with their fields and indexes. */
import { collection, type SealedField } from '#libs/store';
import type { DeliveryStatus } from '../contract.ts';

const logSeconds = 90 * 86_400;

export interface ConfigRow {
  _id: string;
  organization_id: string;
  created_by: string;
  name: string;
  url: string;
  event_types: string[];
  is_active: boolean;
  /** Newest first; an older one signs beside it until its time is over. */
  secrets: SealedSecret[];
  /** Failures before this are forgiven: when it was made, switched on again, or got another URL. */
  failures_counted_from?: Date;
  /** When it was last said that deliveries failed. */
  notified_at?: Date;
  created_at: Date;
  updated_at: Date;
}

export interface SealedSecret {
  sealed: string;
  /** When it stops to sign and may be removed; null while it has no end. */
  until: Date | null;
}

/** What is told of an event, once for all webhooks and attempts. */
export interface EventRow {
  /** The event's id. */
  _id: string;
  organization_id: string;
  /** The body as JSON text: its UTF-8 bytes are what is signed and sent. */
  body: string;
  /** When the change was, and its W3C trace context if it was traced; absent in rows of before these were kept, and of tests. */
  occurred_at?: Date;
  trace?: string;
  /** The webhooks that it is told to. Absent where its deliveries were written in one transaction with it. */
  recipient_ids?: string[];
  created_at: Date;
}

/** One event on its way to one webhook: the log entry and the schedule in one. */
export interface DeliveryRow {
  _id: string;
  event_id: string;
  event_type: string;
  document_id: string | null;
  config_id: string;
  organization_id: string;
  /** Set unless it is a repetition by command: then it may stand beside the first. */
  is_first?: true;
  /** Whether it is among those that a command sends again once they failed: no test is, and nothing that was sent again. */
  redeliverable: boolean;
  status: DeliveryStatus;
  /** Attempts begun: counted before each request. */
  attempts: number;
  /** When the next attempt is due; absent while a process has the row in hand, and at the end. */
  due_at?: Date;
  /** Set while it waits for an endpoint that does not answer, instead of for its own pause. */
  postponed?: true;
  shard: number;
  /** Whose claim it is; every later step of that claim must name it. */
  lock_token?: string;
  locked_until?: Date;
  /** Set when all its attempts failed, until that was said. */
  notification_pending?: true;
  http_status: number | null;
  duration_ms: number | null;
  error: string | null;
  created_at: Date;
  updated_at: Date;
}

const text = { type: String, required: true } as const;

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
    // the type, so that those of another are skipped without reading them
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
