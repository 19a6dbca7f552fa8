/** Operations on API keys. */
import { z } from 'zod';
import { id, NotFound, nothing, operation, page } from '#libs/contract';
import { member } from '../access.ts';
import { RoleTooHigh } from '../problems.ts';
import { ApiKey, name } from '../shapes.ts';
import { role } from '../views.ts';

export const createApiKey = operation({
  id: 'createApiKey',
  method: 'post',
  path: '/api-keys',
  summary: 'Make an API key',
  description: 'The key itself is in this answer only. It acts as you, capped to its own role.',
  access: member,
  audit: 'api_key.create',
  body: z.strictObject({
    name,
    role: role.default('member'),
    expires_at: z.iso
      .datetime({ offset: true })
      .nullish()
      .meta({ description: 'In the future; null is never' }),
  }),
  status: 201,
  returns: z
    .strictObject({ ...ApiKey.shape, key: z.string().nullable().meta({ description: 'Shown once' }) })
    .meta({ id: 'NewApiKey' }),
  secrets: ['key'],
  problems: [RoleTooHigh],
});

export const listApiKeys = operation({
  id: 'listApiKeys',
  method: 'get',
  path: '/api-keys',
  summary: 'List API keys, the newest first',
  access: member,
  permission: 'You see your own keys; an admin sees those of every member.',
  query: z.object(page),
  status: 200,
  returns: z.array(ApiKey),
  paged: true,
  problems: [],
});

export const deleteApiKey = operation({
  id: 'deleteApiKey',
  method: 'delete',
  path: '/api-keys/{key_id}',
  summary: 'Revoke an API key and every key that it made',
  description: 'Counts with the next request.',
  access: member,
  permission: 'You may revoke your own keys; an admin may revoke those of every member.',
  audit: 'api_key.revoke',
  params: z.object({ key_id: id }),
  status: 204,
  returns: nothing,
  problems: [NotFound],
});
