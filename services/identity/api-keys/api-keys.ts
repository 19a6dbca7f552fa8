/** API keys: a member creates them, and they act as that member. */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { InvalidRequest, id, newId, parseCursor, Unauthenticated } from '#libs/contract';
import { on, type Subscriber } from '#libs/events';
import { handle, toPage } from '#libs/http';
import type { Store, Transaction } from '#libs/store';
import {
  type ApiKey,
  ApiKeyCreated,
  ApiKeyRevoked,
  ApiKeyUsed,
  createApiKey,
  deleteApiKey,
  deleteOwnApiKeys,
  getVisibleUser,
  listApiKeys,
  RoleTooHigh,
} from '../contract.ts';
import { hashCredential } from '../principal.ts';
import { formatApiKey, getKeyPrefix } from '../rules/api-key.ts';
import type { StorageQuota } from '../storage-quota.ts';
import { toMembershipId } from '../store/accounts.ts';
import type { ApiKeyRepository } from '../store/api-keys.ts';
import type { ApiKeyRow } from '../store/collections.ts';

const position = z.tuple([id]);

/** What the operations on API keys need. */
export interface ApiKeyOptions {
  store: Pick<Store, 'respond' | 'withLock'>;
  apiKeys: ApiKeyRepository;
  storageQuota: StorageQuota;
  now: () => Date;
}

/** Handlers of the operations on API keys. */
export function apiKeyHandlers({ now, apiKeys, storageQuota, store }: ApiKeyOptions) {
  return [
    handle(createApiKey, async ({ actor, body, call }) => {
      call.audit({ role: body.role });
      const created_at = now();
      const expires_at = body.expires_at ? new Date(body.expires_at) : null;
      if (expires_at && expires_at <= created_at) throw expiryInPastError();
      if (body.role === 'admin' && actor.role !== 'admin') throw RoleTooHigh();
      const key = formatApiKey(randomBytes(32));
      const { organization_id, user_id } = actor;
      const row: ApiKeyRow = {
        _id: newId(),
        hash: hashCredential(key),
        organization_id,
        user_id,
        member_id: toMembershipId(organization_id, user_id),
        created_by_key_id: actor.key_id,
        name: body.name,
        role: body.role,
        prefix: getKeyPrefix(key),
        expires_at: getEarlierExpiry(expires_at, await apiKeys.getExpiry(actor, actor.key_id)),
        last_used_at: null,
        created_at,
      };
      const create = async (within: typeof actor & { tx: Transaction }) => {
        await storageQuota.claim(within, 'api_keys', () => apiKeys.count(within));
        if (!(await apiKeys.insert(within, row))) throw Unauthenticated();
        const expiry = { expires_at: row.expires_at?.toISOString() ?? null };
        call.audit({ created_key_id: row._id, ...expiry });
        const created = { key_id: row._id, member_id: user_id, role: row.role, ...expiry };
        within.tx.publish(ApiKeyCreated, created);
        return { ...toApiKey(row), key };
      };
      // creations of one organization would conflict in MongoDB
      return store.withLock(organization_id, () => store.respond(actor, create));
    }),

    handle(listApiKeys, async ({ actor, query }) => {
      const [before] = parseCursor(query.cursor, position) ?? [];
      const found = await apiKeys.list(actor, {
        userId: getVisibleUser(actor),
        before,
        limit: query.limit + 1,
      });
      return toPage({ found, limit: query.limit, toItem: toApiKey, position: ({ _id }) => [_id] });
    }),

    handle(deleteApiKey, async ({ actor, params, call, authorize }) => {
      call.audit({ revoked_key_id: params.key_id });
      const revoked = await apiKeys.revoke(actor, params.key_id, authorize, publishRevocation);
      call.audit({ member_id: revoked.user_id });
      return undefined;
    }),

    handle(deleteOwnApiKeys, async ({ actor, call }) => {
      call.audit({ count: await apiKeys.revokeAll(actor, actor.user_id, publishRevocation) });
      return undefined;
    }),
  ];
}

/**
 * Subscribes to `api_key.used` of all services and records the time. Processing an event twice changes
 * nothing.
 */
export function recordKeyUsage({ apiKeys }: { apiKeys: ApiKeyRepository }): Subscriber[] {
  return [
    on(ApiKeyUsed, ({ organization_id, data }) =>
      apiKeys.recordUse({ organization_id, user_id: null }, data.key_id, new Date(data.used_at)),
    ),
  ];
}

function publishRevocation(tx: Transaction, member_id: string, key_ids: string[]): void {
  tx.publish(ApiKeyRevoked, { key_ids, member_id });
}

function expiryInPastError() {
  const errors = [{ path: 'body/expires_at', message: 'Must be in the future' }];
  return InvalidRequest(undefined, { extra: { errors } });
}

/** The expiry of a new key. A key that another key creates expires no later than that key. */
function getEarlierExpiry(requested: Date | null, creator: Date | null): Date | null {
  if (requested === null || creator === null) return requested ?? creator;
  return requested < creator ? requested : creator;
}

/** Maps an API key, without the key itself. */
function toApiKey(row: ApiKeyRow): z.infer<typeof ApiKey> {
  return {
    id: row._id,
    name: row.name,
    role: row.role,
    prefix: row.prefix,
    created_by: row.user_id,
    expires_at: row.expires_at?.toISOString() ?? null,
    last_used_at: row.last_used_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
  };
}
