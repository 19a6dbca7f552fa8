/** Internal events about webhooks and their failures. */
import { z } from 'zod';
import { event, id, timestamp } from '#libs/contract';

const webhook = z.strictObject({ id, name: z.string(), created_by: id });

/** Published at most once a minute per webhook, or once per 1,000 failures if they come faster. */
export const WebhookExhausted = event('webhook.exhausted', {
  description: 'Internal. Deliveries to a webhook failed permanently.',
  data: z.strictObject({
    webhook,
    failed: z
      .number()
      .int()
      .min(1)
      .meta({ description: 'Number of failed deliveries since the previous event' }),
    last: z.strictObject({ entry_id: id, event_type: z.string(), error: z.string().nullable() }),
  }),
});

export const WebhookDisabled = event('webhook.disabled', {
  description: 'Internal. A webhook was disabled because its receiver is gone or has failed for days.',
  data: z.strictObject({
    webhook,
    reason: z.enum(['gone', 'failing']).meta({
      description: '`gone`: the receiver responded with 410. `failing`: all deliveries failed for five days.',
    }),
  }),
});

const target = z.strictObject({
  host: z.string().meta({ description: 'Host and port of the URL; its path and query may contain a secret' }),
  event_types: z.array(z.string()),
  is_active: z.boolean(),
});

export const WebhookCreated = event('webhook.created', {
  description: 'A webhook was created.',
  data: z.strictObject({ webhook_id: id, ...target.shape }),
});

export const WebhookUpdated = event('webhook.updated', {
  description: 'The name, the URL, the event types or the activity of a webhook changed.',
  data: z.strictObject({
    webhook_id: id,
    changed: z.array(z.string()).meta({ description: 'Names of the fields' }),
    before: target,
    after: target,
  }),
});

/** The problem `WebhookDeleted` has the other name. */
export const WebhookRemoved = event('webhook.deleted', {
  description: 'A webhook was deleted.',
  data: z.strictObject({ webhook_id: id, ...target.shape }),
});

export const WebhookSecretRotated = event('webhook.secret_rotated', {
  description: 'A webhook got a new secret.',
  data: z.strictObject({ webhook_id: id, older_secrets_until: timestamp.nullable() }),
});
