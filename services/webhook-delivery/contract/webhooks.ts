/** Operations on webhooks: registering, reading, changing and deleting them. */
import { z } from 'zod';
import { Forbidden, NotFound, nothing, operation, page, someField } from '#libs/contract';
import { scaleMember } from '../../identity/contract.ts';
import { TooManyWebhooks } from '../problems.ts';
import { configParams, NewWebhook, Webhook, webhookForm } from '../shapes.ts';

export const registerWebhook = operation({
  id: 'registerWebhook',
  method: 'post',
  path: '/webhooks',
  summary: 'Register a webhook',
  description: 'The secret is in this answer only. Duplicate event types are folded.',
  access: scaleMember,
  body: z.strictObject(webhookForm),
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

export const getWebhook = operation({
  id: 'getWebhook',
  method: 'get',
  path: '/webhooks/{config_id}',
  summary: 'Get a webhook',
  access: scaleMember,
  params: configParams,
  status: 200,
  returns: Webhook,
  problems: [NotFound],
});

export const updateWebhook = operation({
  id: 'updateWebhook',
  method: 'patch',
  path: '/webhooks/{config_id}',
  summary: 'Change a webhook, or switch it off and on',
  description:
    'Its creator or an admin may. Send only what changes; `event_types` replaces the whole list. The next attempt of what is still to be sent goes to a new `url`. While a webhook is off, events are skipped, and deliveries that fall due end as failed.',
  access: scaleMember,
  params: configParams,
  body: someField({
    ...webhookForm,
    is_active: z.boolean().meta({ description: 'Whether anything is sent to it' }),
  }),
  status: 200,
  returns: Webhook,
  problems: [NotFound, Forbidden],
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
