/** What clients see of webhooks and deliveries. */
import { z } from 'zod';
import { id, timestamp } from '#libs/contract';
import { urlFault } from './rules/target.ts';

/** Every type of event that a webhook may subscribe to: those of the specification, and `document.updated`. */
export const eventType = z
  .enum([
    'document.published',
    'document.revised',
    'document.updated',
    'document.archived',
    'document.assigned',
    'member.invited',
    'member.joined',
  ])
  .meta({ description: 'A type of event that webhooks may subscribe to' });

const url = z
  .string()
  .max(2048)
  .superRefine((value, context) => {
    const message = urlFault(value);
    if (message) context.addIssue({ code: 'custom', message });
  })
  .meta({ description: 'https, publicly reachable, without credentials and fragment' });

/** What whoever registers or changes a webhook says of it. */
export const webhookForm = {
  name: z.string().trim().min(1, 'A name is required').max(200),
  url,
  event_types: z
    .array(eventType)
    .min(1, 'Name at least one event type')
    .transform((types) => [...new Set(types)]),
};

const webhookFields = {
  id,
  organization_id: id,
  created_by: id,
  name: z.string(),
  url: z.string(),
  event_types: z.array(eventType),
  is_active: z.boolean(),
  created_at: timestamp,
};

export const Webhook = z.strictObject(webhookFields).meta({ id: 'Webhook' });
export type Webhook = z.infer<typeof Webhook>;

export const NewWebhook = z
  .strictObject({
    ...webhookFields,
    secret: z.string().nullable().meta({ description: 'Signs every delivery; shown in this answer only' }),
  })
  .meta({ id: 'NewWebhook' });

export const RotatedWebhook = z
  .strictObject({
    ...webhookFields,
    secret: z.string().nullable().meta({ description: 'Signs from now on; shown in this answer only' }),
    older_secrets_until: timestamp.nullable().meta({
      description: 'When the last of the older secrets stops to sign; null when none does any more',
    }),
  })
  .meta({ id: 'RotatedWebhook' });

/** How far a delivery is. */
export const deliveryStatus = z.enum(['pending', 'delivered', 'failed']);
export type DeliveryStatus = z.infer<typeof deliveryStatus>;

export const WebhookEvent = z
  .strictObject({
    id: id.meta({ description: 'The `X-Service-Delivery` of its requests' }),
    event_type: z.string(),
    direction: z.literal('outbound'),
    status: deliveryStatus,
    attempts: z.number().int().min(0).max(3).meta({ description: 'Attempts so far' }),
    created_at: timestamp,
    config_id: id,
    event_id: id.meta({ description: 'The `webhook-id` of its requests: the same at every attempt' }),
    document_id: id.nullable(),
    http_status: z.number().int().nullable().meta({ description: 'Of the last answer; null without one' }),
    duration_ms: z.number().int().nullable().meta({ description: 'Until the last answer’s headers' }),
    error: z.string().nullable().meta({ description: 'Why the last attempt failed, as a stable word' }),
    next_attempt_at: timestamp.nullable(),
    updated_at: timestamp,
  })
  .meta({ id: 'WebhookEvent', description: 'One event on its way to one webhook.' });
export type WebhookEvent = z.infer<typeof WebhookEvent>;

/** The path parameters of operations on one webhook. */
export const configParams = z.object({ config_id: id });
