/** What webhook delivery offers: webhooks that an organization registers, and the log of what was sent to them. */
import { z } from 'zod';
import {
  contract,
  Forbidden,
  id,
  NotFound,
  nothing,
  operation,
  page,
  problem,
  timestamp,
} from '#libs/contract';
import { documentsContract } from '../documents/contract.ts';
import { identityContract, principalViews, scaleMember } from '../identity/contract.ts';
import { urlFault } from './rules/target.ts';
import { webhookSubscriptions } from './views.ts';

export * from './views.ts';

// ── Problems ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The most webhooks that one organization may have. */
export const maxWebhooks = 50;

export const TooManyWebhooks = problem(
  'too_many_webhooks',
  400,
  `An organization has at most ${maxWebhooks} webhooks: delete one to make room.`,
);

// ── Shapes ────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Every type of event that a webhook may subscribe to, as the specification lists them. */
export const eventType = z
  .enum([
    'document.published',
    'document.revised',
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

const deliveryStatus = z.enum(['pending', 'delivered', 'failed']);
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

const configParams = z.object({ config_id: id });

// ── Operations ────────────────────────────────────────────────────────────────────────────────────────────────────────

export const registerWebhook = operation({
  id: 'registerWebhook',
  method: 'post',
  path: '/webhooks',
  summary: 'Register a webhook',
  description: 'The secret is in this answer only. Duplicate event types are folded.',
  access: scaleMember,
  body: z.strictObject({
    name: z.string().trim().min(1, 'A name is required').max(200),
    url,
    event_types: z
      .array(eventType)
      .min(1, 'Name at least one event type')
      .transform((types) => [...new Set(types)]),
  }),
  status: 201,
  returns: NewWebhook,
  secrets: ['secret'],
  problems: [TooManyWebhooks],
});

export const listWebhooks = operation({
  id: 'listWebhooks',
  method: 'get',
  path: '/webhooks',
  summary: 'List webhooks, the oldest first',
  access: scaleMember,
  query: z.object(page),
  status: 200,
  returns: z.array(Webhook),
  paged: true,
  problems: [],
});

export const deleteWebhook = operation({
  id: 'deleteWebhook',
  method: 'delete',
  path: '/webhooks/{config_id}',
  summary: 'Delete a webhook',
  description: 'Its creator or an admin may. What was still to be sent to it ends as failed.',
  access: scaleMember,
  params: configParams,
  status: 204,
  returns: nothing,
  problems: [NotFound, Forbidden],
});

export const testWebhook = operation({
  id: 'testWebhook',
  method: 'post',
  path: '/webhooks/{config_id}/test',
  summary: 'Send a test event and tell how it went',
  description:
    'One request with `webhook.test`, also to an inactive webhook; waits up to 10 seconds. Ten a minute.',
  access: scaleMember,
  params: configParams,
  status: 200,
  returns: z
    .strictObject({
      status: z.enum(['delivered', 'failed']),
      http_status: z.number().int().nullable().meta({ description: 'null when no answer came' }),
    })
    .meta({ id: 'WebhookTest' }),
  problems: [NotFound],
});

export const listWebhookEvents = operation({
  id: 'listWebhookEvents',
  method: 'get',
  path: '/webhooks/events',
  summary: 'The event log: the last 100 entries, the newest first',
  description: 'One entry for each event and webhook; entries live 90 days.',
  access: scaleMember,
  query: z.object(page),
  status: 200,
  returns: z.array(WebhookEvent),
  paged: true,
  problems: [],
});

export const webhookDeliveryContract = contract({
  name: 'webhook-delivery',
  title: 'Webhooks',
  sentence: 'Tells other systems what happened: signed, with retries, and logged.',
  operations: [registerWebhook, listWebhooks, deleteWebhook, testWebhook, listWebhookEvents],
  says: [],
  hears: [...documentsContract.says, ...identityContract.says].filter(({ subscribable }) => subscribable),
  owns: ['webhook_configs', 'webhook_events', 'webhook_deliveries'],
  views: [webhookSubscriptions],
  reads: [...principalViews],
});
