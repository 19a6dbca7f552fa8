/** Request and response schemas of webhooks and deliveries. */
import { z } from 'zod';
import { hostNamePattern, id, portPattern, requiredText, text, timestamp } from '#libs/contract';
import { testType } from './rules/redelivery.ts';
import { checkUrlForm } from './rules/target.ts';

/** Event types that a webhook may subscribe to: those of the specification and `document.updated`. */
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
  .meta({ id: 'EventType', description: 'An event type that webhooks may subscribe to' });

/** Event types by which the log can be filtered: those of webhooks, and the test event. */
export const loggedEventType = z
  .enum([...eventType.options, testType])
  .meta({ id: 'LoggedEventType', description: 'An event type of the event log' });

/** Hosts of https URLs: a name, or an address, of which IPv6 ones are in brackets. */
const httpsHost = `https://(?:${hostNamePattern}|\\[[0-9a-f:.]+\\])`;
const loopback = 'http://(?:localhost|127(?:\\.\\d{1,3}){3}|\\[::1\\])';

const url = text(2048)
  .superRefine((value, context) => {
    const message = checkUrlForm(value);
    if (message) context.addIssue({ code: 'custom', message });
  })
  .meta({
    description: 'An https URL with a public address, without credentials and without a fragment',
    format: 'uri',
    pattern: `^(?:${httpsHost}|${loopback})${portPattern}(?:[/?][^\\s#]*)?$`,
  });

/** Fields of a webhook that the caller sets when creating or updating it. */
export const webhookInput = {
  name: requiredText(200, 'A name is required'),
  url,
  event_types: z
    .array(eventType)
    .min(1, 'At least one event type is required')
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
    secret: z.string().nullable().meta({
      description: 'Signs every delivery. Only this response contains it; null in a replayed response.',
    }),
  })
  .meta({ id: 'NewWebhook' });

export const RotatedWebhook = z
  .strictObject({
    ...webhookFields,
    secret: z.string().nullable().meta({
      description:
        'Signs deliveries from now on. Only this response contains it; null in a replayed response.',
    }),
    older_secrets_until: timestamp.nullable().meta({
      description: 'When the last older secret stops signing; null if no older secret signs',
    }),
  })
  .meta({ id: 'RotatedWebhook' });

/** State of a delivery. */
export const deliveryStatus = z.enum(['pending', 'delivered', 'failed']).meta({ id: 'DeliveryStatus' });
export type DeliveryStatus = z.infer<typeof deliveryStatus>;

export const WebhookEvent = z
  .strictObject({
    id: id.meta({ description: 'Sent in the `X-Service-Delivery` header' }),
    event_type: z.string(),
    direction: z.literal('outbound'),
    status: deliveryStatus,
    attempts: z.number().int().min(0).max(3).meta({ description: 'Number of attempts so far' }),
    created_at: timestamp,
    config_id: id,
    event_id: id.meta({ description: 'Sent in the `webhook-id` header; the same for every attempt' }),
    document_id: id.nullable(),
    http_status: z
      .number()
      .int()
      .nullable()
      .meta({ description: 'Status of the last response; null if there was none' }),
    duration_ms: z
      .number()
      .int()
      .nullable()
      .meta({ description: 'Time until the headers of the last response, or until the failure, in ms' }),
    error: z
      .string()
      .nullable()
      .meta({ description: 'Why the last attempt failed, as a stable code such as `timeout`' }),
    next_attempt_at: timestamp.nullable(),
    updated_at: timestamp,
  })
  .meta({ id: 'WebhookEvent', description: 'The delivery of one event to one webhook.' });
export type WebhookEvent = z.infer<typeof WebhookEvent>;

/** Path parameters of operations on one webhook. */
export const configParams = z.object({ config_id: id });
