/** What webhook delivery says of webhooks that fail; for services only. */
import { z } from 'zod';
import { event, id } from '#libs/contract';

const webhook = z.strictObject({ id, name: z.string(), created_by: id });

/** Said at most once a minute for each webhook, and more often only for every thousand failures. */
export const WebhookExhausted = event('webhook.exhausted', {
  description: 'Deliveries to a webhook failed for good.',
  data: z.strictObject({
    webhook,
    failed: z.number().int().min(1).meta({ description: 'How many since it was said last' }),
    last: z.strictObject({ entry_id: id, event_type: z.string(), error: z.string().nullable() }),
  }),
});

export const WebhookDisabled = event('webhook.disabled', {
  description: 'A webhook was switched off, because its receiver is gone or has failed for days.',
  data: z.strictObject({
    webhook,
    reason: z
      .enum(['gone', 'failing'])
      .meta({ description: 'It answered 410, or all deliveries failed for five days' }),
  }),
});
