/** Internal events about failing webhooks. */
import { z } from 'zod';
import { event, id } from '#libs/contract';

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
