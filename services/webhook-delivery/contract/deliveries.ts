/** Operations on deliveries: test a webhook, list the event log, redeliver events. */
import { z } from 'zod';
import { id, inputTime, NotFound, operation, page } from '#libs/contract';
import { member, onScalePlan, ownerOrAdmin } from '../../identity/contract.ts';
import {
  DeliveryPending,
  EventExpired,
  TestNotRepeated,
  WebhookDeleted,
  WebhookInactive,
} from '../problems.ts';
import { maxPerRequest } from '../rules/redelivery.ts';
import {
  configParams,
  deliveryStatus,
  loggedEventType,
  maxExcerptBytes,
  WebhookEvent,
  WebhookEventDetails,
} from '../shapes.ts';

export const testWebhook = operation({
  id: 'testWebhook',
  method: 'post',
  path: '/webhooks/{config_id}/test',
  summary: 'Send a test event to a webhook',
  description:
    'Sends one `webhook.test` request, also to an inactive webhook, and returns the result. Times out after 10 seconds. Limited to ten requests per minute and webhook.',
  access: onScalePlan(member),
  params: configParams,
  status: 200,
  returns: z
    .strictObject({
      status: z.enum(['delivered', 'failed']),
      http_status: z.number().int().nullable().meta({ description: 'null if the receiver did not respond' }),
    })
    .meta({ id: 'WebhookTest' }),
  problems: [NotFound],
});

export const listWebhookEvents = operation({
  id: 'listWebhookEvents',
  method: 'get',
  path: '/webhooks/events',
  summary: 'List the event log, newest first',
  description:
    'Contains one entry per event and webhook. A page has at most 100 entries. Entries are deleted after 90 days.',
  access: onScalePlan(member),
  query: z.object({
    ...page,
    config_id: id
      .optional()
      .meta({ description: 'Only entries of this webhook. Also accepts a deleted webhook.' }),
    status: deliveryStatus.optional().meta({ description: 'Only entries with this status' }),
    event_type: loggedEventType.optional().meta({ description: 'Only entries of this event type' }),
    document_id: id.optional().meta({ description: 'Only events of this document' }),
  }),
  status: 200,
  returns: z.array(WebhookEvent),
  paged: true,
  problems: [],
});

const entryParams = z.object({ entry_id: id });

export const getWebhookEvent = operation({
  id: 'getWebhookEvent',
  method: 'get',
  path: '/webhooks/events/{entry_id}',
  summary: 'Get an entry of the event log with its requests and responses',
  description: `Shows the body and the headers of the requests without their signatures, and the first ${maxExcerptBytes} bytes of each response. If the webhook was deleted, only admins may read its entries.`,
  access: onScalePlan(
    ownerOrAdmin('read the requests and responses of its deliveries', 'creator of the webhook'),
  ),
  params: entryParams,
  status: 200,
  returns: WebhookEventDetails,
  problems: [NotFound],
});

export const redeliverWebhookEvent = operation({
  id: 'redeliverWebhookEvent',
  method: 'post',
  path: '/webhooks/events/{entry_id}/redeliver',
  summary: 'Redeliver one event',
  description:
    'Creates a new entry for the same event, with up to three attempts. The requests have the same `webhook-id` and the same body, and a new signature.',
  access: onScalePlan(ownerOrAdmin('redeliver events', 'creator of the webhook')),
  params: entryParams,
  status: 202,
  returns: WebhookEvent,
  problems: [NotFound, WebhookInactive, WebhookDeleted, EventExpired, DeliveryPending, TestNotRepeated],
});

export const redeliverFailedEvents = operation({
  id: 'redeliverFailedEvents',
  method: 'post',
  path: '/webhooks/events/redeliver',
  summary: 'Redeliver failed events',
  description: `Redelivers failed entries of this webhook that were created at \`since\` or later and have not been redelivered yet. Creates one new entry per event, oldest first, at most ${maxPerRequest} per request. Either all of them are created or none. Repeat the request while \`count\` is ${maxPerRequest}.`,
  access: onScalePlan(ownerOrAdmin('redeliver events', 'creator of the webhook')),
  body: z.strictObject({
    config_id: id,
    since: inputTime
      .transform((text) => new Date(text))
      .meta({ description: 'Only entries created at this time or later' }),
    status: z.literal('failed').default('failed'),
  }),
  status: 202,
  returns: z
    .strictObject({ count: z.number().int().meta({ description: 'Number of events that are redelivered' }) })
    .meta({ id: 'Redelivery' }),
  problems: [WebhookInactive],
});
