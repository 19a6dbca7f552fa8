/** MongoDB collections of webhook delivery: rows, indexes and sealed fields. */
import { z } from 'zod';
import { id } from '#libs/contract';
import { collection, type SealedField, type StoredRow } from '#libs/store';
import { Webhook, WebhookAttempt, WebhookEvent, WebhookResponse } from '../shapes.ts';

const logSeconds = 90 * 86_400;

/** The encrypted secrets in `webhook_configs`. */
export const sealedSecrets: SealedField<object> = {
  path: 'secrets.sealed',
  context: () => 'webhook_configs.secret',
};

/** The webhooks of all organizations. */
export const webhookConfigs = collection('webhook_configs', {
  row: Webhook.omit({ id: true }).extend({
    _id: id,
    event_types: z.array(z.string()),
    /** Newest first. Older secrets keep signing until they expire. */
    secrets: z.array(
      z.object({
        sealed: z.string(),
        /** When it stops signing and may be deleted; null if it does not expire. */
        until: z.date().nullable(),
      }),
    ),
    /** Earlier failures do not count: when the webhook was created, enabled again or got another URL. */
    failures_counted_from: z.date().exactOptional(),
    /**
     * Another value makes the circuit breakers of all processes forget earlier failures. Absent until the first
     * change.
     */
    breaker_generation: id.exactOptional(),
    /** When the last failure notification was published. */
    notified_at: z.date().exactOptional(),
    created_at: z.date(),
    updated_at: z.date(),
  }),
  indexes: [
    { on: { organization_id: 1, _id: 1 } },
    {
      on: { 'secrets.until': 1 },
      options: { partialFilterExpression: { 'secrets.until': { $type: 'date' } } },
    },
  ],
  sealed: [sealedSecrets],
});
export type ConfigRow = StoredRow<typeof webhookConfigs>;

/** An encrypted secret of a webhook. */
export type SealedSecret = ConfigRow['secrets'][number];

/** The body as JSON text. Its UTF-8 bytes are signed and sent. */
const webhookEventBody = z.string();

/** The payloads of events, each stored once for all webhooks and attempts. */
export const webhookEvents = collection('webhook_events', {
  row: z.object({
    /** The event's id. */
    _id: z.string(),
    organization_id: id,
    body: webhookEventBody,
    /** Time of the change; absent for test events. */
    occurred_at: z.date().exactOptional(),
    /** W3C trace context of the change, if it was traced. */
    trace: z.string().exactOptional(),
    /** Webhooks that get the event. Absent if its deliveries were inserted in the same transaction. */
    recipient_ids: z.array(id).exactOptional(),
    created_at: z.date(),
  }),
  indexes: [{ on: { created_at: 1 }, options: { expireAfterSeconds: logSeconds } }],
});
export type EventRow = StoredRow<typeof webhookEvents>;

/** An attempt whose result is known. The event log shows it together with the headers of its request. */
const loggedAttempt = WebhookAttempt.omit({ request_headers: true }).extend({
  started_at: z.date(),
  /** The `traceparent` header of the request, if it was traced. */
  traceparent: z.string().exactOptional(),
  response: WebhookResponse.exactOptional(),
  response_withheld: z.literal(true).exactOptional(),
});
export type LoggedAttempt = z.infer<typeof loggedAttempt>;

/** The deliveries, each of one event to one webhook: the log entry and the schedule in one row. */
export const webhookDeliveries = collection('webhook_deliveries', {
  row: WebhookEvent.omit({ id: true, direction: true, next_attempt_at: true }).extend({
    _id: id,
    organization_id: id,
    /** Set for the first delivery of an event to a webhook, and absent for a redelivery. */
    is_first: z.literal(true).exactOptional(),
    /**
     * Whether `redeliverFailedEvents` includes it after it failed. False for tests and already redelivered
     * rows.
     */
    redeliverable: z.boolean(),
    /** When the next attempt is due; absent while the row is leased and after its final status. */
    due_at: z.date().exactOptional(),
    /** Set if the row is due only when the endpoint's circuit breaker has closed, not after its own retry delay. */
    postponed: z.literal(true).exactOptional(),
    shard: z.number(),
    /** Token of the current claim. Every later step of the claim must match it. */
    lock_token: z.string().exactOptional(),
    locked_until: z.date().exactOptional(),
    /** Set when the delivery has failed, until the failure notification is published. */
    notification_pending: z.literal(true).exactOptional(),
    /** Absent before the first result, and in rows of earlier versions. Lists do not read it. */
    attempt_log: z.array(loggedAttempt).exactOptional(),
    created_at: z.date(),
    updated_at: z.date(),
  }),
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
    { on: { document_id: 1, created_at: -1, _id: -1 } },
    {
      on: { event_id: 1, config_id: 1 },
      options: { unique: true, partialFilterExpression: { is_first: true } },
    },
    { on: { created_at: 1 }, options: { expireAfterSeconds: logSeconds } },
  ],
});
export type DeliveryRow = StoredRow<typeof webhookDeliveries>;

/** The encrypted secrets in `webhook_listeners`. */
export const sealedListenerSecret: SealedField<{ _id: string }> = {
  path: 'secret',
  context: ({ _id }) => `webhook_listeners.secret/${_id}`,
};

/** The clients that receive the events of their organization by long polling. */
export const webhookListeners = collection('webhook_listeners', {
  row: z.object({
    _id: id,
    organization_id: id,
    /** The member who started it. */
    user_id: id,
    /** Signs its events; encrypted. */
    secret: z.string(),
    created_at: z.date(),
    /** When it ends, unless its client requests events again. */
    expires_at: z.date(),
  }),
  indexes: [{ on: { organization_id: 1 } }, { on: { expires_at: 1 }, options: { expireAfterSeconds: 0 } }],
  sealed: [sealedListenerSecret],
});
export type ListenerRow = StoredRow<typeof webhookListeners>;

/** An event is deleted after a day, in case its listener has ended or does not confirm it. */
const listenerEventSeconds = 86_400;

/** The events that listeners have not confirmed, one row per event and listener. */
export const webhookListenerEvents = collection('webhook_listener_events', {
  row: z.object({
    _id: id,
    organization_id: id,
    listener_id: id,
    event_id: id,
    event_type: z.string(),
    body: webhookEventBody,
    trace: z.string().exactOptional(),
    created_at: z.date(),
  }),
  indexes: [
    { on: { listener_id: 1, event_id: 1 }, options: { unique: true } },
    { on: { created_at: 1 }, options: { expireAfterSeconds: listenerEventSeconds } },
  ],
});
export type ListenerEventRow = StoredRow<typeof webhookListenerEvents>;

/** All collections of webhook delivery. */
export const ownCollections = [
  ...[webhookConfigs, webhookEvents, webhookDeliveries],
  ...[webhookListeners, webhookListenerEvents],
];

/** The projection of queries that read many deliveries: the log of attempts is several times as large as the rest. */
export const withoutAttempts = { attempt_log: 0 } as const;
