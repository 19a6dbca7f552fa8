/** Operations on deliveries: the test of a webhook, the event log, and sending again. */
import { z } from 'zod';
import { Forbidden, id, NotFound, operation, page } from '#libs/contract';
import { scaleMember } from '../../identity/contract.ts';
import {
  DeliveryPending,
  EventExpired,
  TestNotRepeated,
  WebhookDeleted,
  WebhookInactive,
} from '../problems.ts';
import { maxPerRequest, testType } from '../rules/redelivery.ts';
import { configParams, deliveryStatus, eventType, WebhookEvent } from '../shapes.ts';

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
  query: z.object({
    ...page,
    config_id: id.optional().meta({ description: 'Of this webhook, also of one that was deleted' }),
    status: deliveryStatus.optional(),
    event_type: z.enum([...eventType.options, testType]).optional(),
  }),
  status: 200,
  returns: z.array(WebhookEvent),
  paged: true,
  problems: [],
});

export const redeliverWebhookEvent = operation({
  id: 'redeliverWebhookEvent',
  method: 'post',
  path: '/webhooks/events/{entry_id}/redeliver',
  summary: 'Send an entry of the log again',
  description:
    'Makes a new entry, with three attempts of its own, for the same event: the same `webhook-id` and the same bytes, signed anew.',
  access: scaleMember,
  permission: 'The creator of the webhook or an admin may do this; the organization needs the Scale plan.',
  params: z.object({ entry_id: id }),
  status: 202,
  returns: WebhookEvent,
  problems: [
    NotFound,
    Forbidden,
    WebhookInactive,
    WebhookDeleted,
    EventExpired,
    DeliveryPending,
    TestNotRepeated,
  ],
});

export const redeliverFailedEvents = operation({
  id: 'redeliverFailedEvents',
  method: 'post',
  path: '/webhooks/events/redeliver',
  summary: 'Send again what failed since a time',
  description: `Makes a new entry for each event whose delivery to this webhook failed and was not sent again yet, from entries that were created at \`since\` or later: at most ${maxPerRequest} at a time, the oldest first, all of them or none. Repeat it while \`count\` is ${maxPerRequest}.`,
  access: scaleMember,
  permission: 'The creator of the webhook or an admin may do this; the organization needs the Scale plan.',
  body: z.strictObject({
    config_id: id,
    since: z.iso
      .datetime({ offset: true })
      .transform((text) => new Date(text))
      .meta({ description: 'Entries that were created at this moment or later' }),
    status: z.literal('failed').default('failed'),
  }),
  status: 202,
  returns: z
    .strictObject({ count: z.number().int().meta({ description: 'How many are sent again' }) })
    .meta({ id: 'Redelivery' }),
  problems: [Forbidden, WebhookInactive],
});
