/** Operations on webhooks: registering, reading, changing and deleting them, a new secret. */
import { z } from 'zod';
import { Forbidden, NotFound, nothing, operation, page, patchBody } from '#libs/contract';
import { scaleMember } from '../../identity/contract.ts';
import { TooManySecrets, TooManyWebhooks } from '../problems.ts';
import { maxOverlapSeconds } from '../rules/secrets.ts';
import { configParams, NewWebhook, RotatedWebhook, Webhook, webhookForm } from '../shapes.ts';

export const createWebhook = operation({
  id: 'createWebhook',
  method: 'post',
  path: '/webhooks',
  summary: 'Register a webhook',
  description: 'The secret is in this answer only. Duplicate event types are folded.',
  access: scaleMember,
  audit: 'webhook.create',
  body: z.strictObject(webhookForm),
  status: 201,
  returns: NewWebhook,
  location: '/webhooks/{id}',
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
    'Send only what changes; `event_types` replaces the whole list. The next attempt of what is still to be sent goes to a new `url`. While a webhook is off, events are skipped, and deliveries that fall due end as failed.',
  access: scaleMember,
  permission: 'Its creator or an admin may change it; the organization needs the Scale plan.',
  audit: 'webhook.update',
  params: configParams,
  body: patchBody({
    ...webhookForm,
    is_active: z.boolean().meta({ description: 'Whether anything is sent to it' }),
  }),
  status: 200,
  returns: Webhook,
  problems: [NotFound, Forbidden],
});

export const rotateWebhookSecret = operation({
  id: 'rotateWebhookSecret',
  method: 'post',
  path: '/webhooks/{config_id}/rotate-secret',
  summary: 'Give a webhook a new secret',
  description:
    'The new secret is in this answer only. Until the overlap is over, older secrets that still sign go on doing so beside it; with `overlap_seconds` 0 they stop at once.',
  access: scaleMember,
  permission: 'Its creator or an admin may rotate the secret; the organization needs the Scale plan.',
  audit: 'webhook_secret.rotate',
  params: configParams,
  body: z
    .strictObject({
      overlap_seconds: z
        .number()
        .int()
        .min(0)
        .max(maxOverlapSeconds)
        .optional()
        .meta({ description: 'How long older secrets go on signing, up to a week; a day unless said' }),
    })
    .optional(),
  status: 200,
  returns: RotatedWebhook,
  secrets: ['secret'],
  problems: [NotFound, Forbidden, TooManySecrets],
});

export const deleteWebhook = operation({
  id: 'deleteWebhook',
  method: 'delete',
  path: '/webhooks/{config_id}',
  summary: 'Delete a webhook',
  description: 'What was still to be sent to it ends as failed.',
  access: scaleMember,
  permission: 'Its creator or an admin may delete it; the organization needs the Scale plan.',
  audit: 'webhook.delete',
  params: configParams,
  status: 204,
  returns: nothing,
  problems: [NotFound, Forbidden],
});
