/** Operations on deliveries: the test of a webhook, and the event log. */
import { z } from 'zod';
import { NotFound, operation, page } from '#libs/contract';
import { scaleMember } from '../../identity/contract.ts';
import { configParams, WebhookEvent } from '../shapes.ts';

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
