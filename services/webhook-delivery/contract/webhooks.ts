/** Operations on webhooks: create, list, get, update, delete, rotate the secret. */
import { z } from 'zod';
import { NotFound, nothing, operation, page, patchBody } from '#libs/contract';
import { member, onScalePlan, ownerOrAdmin, StorageQuotaExhausted } from '../../identity/contract.ts';
import { TooManySecrets, TooManyWebhooks } from '../problems.ts';
import { maxOverlapSeconds } from '../rules/secrets.ts';
import { configParams, NewWebhook, RotatedWebhook, Webhook, webhookInput } from '../shapes.ts';

export const createWebhook = operation({
  id: 'createWebhook',
  method: 'post',
  path: '/webhooks',
  summary: 'Create a webhook',
  description: 'Only this response contains the secret. Duplicate event types are removed.',
  access: onScalePlan(member),
  audit: 'webhook.create',
  body: z.strictObject(webhookInput),
  status: 201,
  returns: NewWebhook,
  location: '/webhooks/{id}',
  secrets: ['secret'],
  problems: [TooManyWebhooks, StorageQuotaExhausted],
});

export const listWebhooks = operation({
  id: 'listWebhooks',
  method: 'get',
  path: '/webhooks',
  summary: 'List webhooks, oldest first',
  access: onScalePlan(member),
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
  access: onScalePlan(member),
  params: configParams,
  status: 200,
  returns: Webhook,
  problems: [NotFound],
});

export const updateWebhook = operation({
  id: 'updateWebhook',
  method: 'patch',
  path: '/webhooks/{config_id}',
  summary: 'Update, disable or enable a webhook',
  description:
    'Send only the fields to change. `event_types` replaces the whole list. A new `url` applies from the next attempt of each pending delivery. While a webhook is inactive, new events are skipped and due deliveries fail.',
  access: onScalePlan(ownerOrAdmin('update it', 'creator of the webhook')),
  audit: 'webhook.update',
  params: configParams,
  body: patchBody({
    ...webhookInput,
    is_active: z.boolean().meta({ description: 'Whether events are sent to this webhook' }),
  }),
  status: 200,
  returns: Webhook,
  problems: [NotFound],
});

export const rotateWebhookSecret = operation({
  id: 'rotateWebhookSecret',
  method: 'post',
  path: '/webhooks/{config_id}/rotate-secret',
  summary: 'Rotate the secret of a webhook',
  description:
    'Only this response contains the new secret. Older secrets keep signing next to the new one until the overlap ends. With `overlap_seconds` 0 they stop at once.',
  access: onScalePlan(ownerOrAdmin('rotate its secret', 'creator of the webhook')),
  audit: 'webhook_secret.rotate',
  params: configParams,
  body: z
    .strictObject({
      overlap_seconds: z.number().int().min(0).max(maxOverlapSeconds).optional().meta({
        description: 'How long older secrets keep signing, in seconds. At most one week; one day by default.',
      }),
    })
    .optional(),
  status: 200,
  returns: RotatedWebhook,
  secrets: ['secret'],
  problems: [NotFound, TooManySecrets],
});

export const deleteWebhook = operation({
  id: 'deleteWebhook',
  method: 'delete',
  path: '/webhooks/{config_id}',
  summary: 'Delete a webhook',
  description: 'Pending deliveries to the webhook fail.',
  access: onScalePlan(ownerOrAdmin('delete it', 'creator of the webhook')),
  audit: 'webhook.delete',
  params: configParams,
  status: 204,
  returns: nothing,
  problems: [NotFound],
});
