/** The operations on API keys. */
import { z } from 'zod';
import { id, inputTime, nothing, operation, page } from '#libs/contract';
import { member, ownItemsOrAll, self, selfOrAdmin } from '../access.ts';
import { RoleTooHigh, StorageQuotaExhausted } from '../problems.ts';
import { ApiKey, name, role } from '../shapes.ts';

export const createApiKey = operation({
  id: 'createApiKey',
  method: 'post',
  path: '/api-keys',
  summary: 'Create an API key',
  description: 'Only this response contains the key. The key acts as you, with at most its own role.',
  access: member,
  audit: 'api_key.create',
  body: z.strictObject({
    name,
    role: role.default('member'),
    expires_at: inputTime.nullish().meta({ description: 'Must be in the future; null means never' }),
  }),
  status: 201,
  returns: z
    .strictObject({ ...ApiKey.shape, key: z.string().nullable().meta({ description: 'Shown only once' }) })
    .meta({ id: 'NewApiKey' }),
  secrets: ['key'],
  problems: [RoleTooHigh, StorageQuotaExhausted],
});

export const listApiKeys = operation({
  id: 'listApiKeys',
  method: 'get',
  path: '/api-keys',
  summary: 'List API keys, newest first',
  access: ownItemsOrAll,
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
  summary: 'Revoke an API key and all keys created with it',
  description: 'Takes effect with the next request.',
  access: selfOrAdmin,
  audit: 'api_key.revoke',
  params: z.object({ key_id: id }),
  status: 204,
  returns: nothing,
  problems: [],
});

export const deleteOwnApiKeys = operation({
  id: 'deleteOwnApiKeys',
  method: 'delete',
  path: '/me/api-keys',
  summary: 'Revoke all your API keys',
  description:
    'All keys that act as you in this organization, also those created with another key, and the key of this request. ' +
    'Takes effect with the next request. Keys of other members stay valid, also if you are an admin.',
  access: self,
  audit: 'api_key.revoke_all',
  status: 204,
  returns: nothing,
  problems: [],
});
