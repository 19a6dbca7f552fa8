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
    'document.review_due',
    'approval.requested',
    'approval.approved',
    'approval.rejected',
    'approval.withdrawn',
    'acknowledgement.requested',
    'acknowledgement.made',
    'acknowledgement.completed',
    'acknowledgement.overdue',
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
export const deliveryStatus = z
  .enum(['pending', 'delivered', 'failed'])
  .meta({ id: 'DeliveryStatus', description: 'State of a delivery' });
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

/** The event log keeps this much of the body of a response. */
export const maxExcerptBytes = 1024;

export const WebhookResponse = z
  .strictObject({
    headers: z.record(z.string(), z.string()).meta({
      description: 'Only `content-type`, `location`, `retry-after`, `server` and `x-request-id`',
    }),
    body: z.string().meta({ description: `The first ${maxExcerptBytes} bytes of the body` }),
    encoding: z
      .enum(['utf-8', 'base64'])
      .meta({ description: '`base64` if the body is not valid UTF-8 text' }),
    truncated: z.boolean().meta({ description: 'Whether the body was longer' }),
  })
  .meta({ id: 'WebhookResponse', description: 'What a receiver responded.' });
export type WebhookResponse = z.infer<typeof WebhookResponse>;

export const WebhookAttempt = z
  .strictObject({
    attempt: z.number().int().min(1).max(3),
    started_at: timestamp,
    duration_ms: WebhookEvent.shape.duration_ms.unwrap().meta({
      description: 'Time until the headers of the response, or until the failure, in ms',
    }),
    http_status: WebhookEvent.shape.http_status.meta({ description: 'null if there was no response' }),
    error: WebhookEvent.shape.error.meta({ description: 'Why it failed; null if it succeeded' }),
    request_headers: z
      .record(z.string(), z.string())
      .meta({ description: 'The headers that were sent. Signatures are replaced with `[redacted]`.' }),
    response: WebhookResponse.nullable().meta({
      description: 'null if there was none, or if it is withheld',
    }),
    response_withheld: z.boolean().meta({
      description:
        'Whether the response was not stored, because it came from a private network or through a proxy',
    }),
  })
  .meta({ id: 'WebhookAttempt', description: 'One request to a receiver.' });
export type WebhookAttempt = z.infer<typeof WebhookAttempt>;

export const WebhookEventDetails = WebhookEvent.extend({
  request_body: z.string().nullable().meta({
    description: 'The exact text of the body, the same for every attempt; null if the event was deleted',
  }),
  attempt_log: z.array(WebhookAttempt).meta({
    description:
      'The attempts with a known result, oldest first. An attempt is missing while it runs, and if the service stopped before it recorded the result.',
  }),
}).meta({ id: 'WebhookEventDetails', description: 'A delivery with its requests and responses.' });
export type WebhookEventDetails = z.infer<typeof WebhookEventDetails>;

export const NewWebhookListener = z
  .strictObject({
    id,
    secret: z.string().nullable().meta({
      description: 'Signs the events. Only this response contains it; null in a replayed response.',
    }),
    created_at: timestamp,
    expires_at: timestamp.meta({ description: 'When it ends, unless it receives events again' }),
  })
  .meta({ id: 'NewWebhookListener' });

export const ListenedEvent = z
  .strictObject({
    event_id: WebhookEvent.shape.event_id,
    event_type: z.string(),
    headers: z.record(z.string(), z.string()).meta({
      description: 'The headers of a webhook request, signed now with the secret of the listener',
    }),
    body: z.string().meta({ description: 'The exact text of the body of a webhook request' }),
  })
  .meta({ id: 'ListenedEvent', description: 'An event in the form of a webhook request.' });
export type ListenedEvent = z.infer<typeof ListenedEvent>;

/** Path parameters of operations on one webhook. */
export const configParams = z.object({ config_id: id });
