/** API keys: made by a member, acting as that member. */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { InvalidRequest, id, NotFound, newId, parseCursor, Unauthenticated } from '#libs/contract';
import { on, type Subscriber } from '#libs/events';
import { handle, toPage } from '#libs/http';
import type { Store } from '#libs/store';
import {
  ApiKeyUsed,
  createApiKey,
  deleteApiKey,
  listApiKeys,
  type MemberPrincipal,
  RoleTooHigh,
} from './contract.ts';
import { toApiKey } from './presenters.ts';
import { hashCredential } from './principal.ts';
import { keyFrom, prefixOf } from './rules/api-key.ts';
import { membershipId } from './store/accounts.ts';
import type { ApiKeyRow } from './store/collections.ts';
import type { Credentials } from './store/credentials.ts';

const position = z.tuple([id]);

/** The operations on API keys. */
export function apiKeyHandlers({
  now,
  credentials,
  store,
}: {
  store: Pick<Store, 'respond'>;
  credentials: Credentials;
  now: () => Date;
}) {
  return [
    handle(createApiKey, async ({ actor, body, call }) => {
      call.audit({ role: body.role });
      const created_at = now();
      const expires_at = body.expires_at ? new Date(body.expires_at) : null;
      if (expires_at && expires_at <= created_at) throw expiryInPast();
      if (body.role === 'admin' && actor.role !== 'admin') throw RoleTooHigh();
      const key = keyFrom(randomBytes(32));
      const { organization_id, user_id } = actor;
      const row: ApiKeyRow = {
        _id: newId(),
        hash: hashCredential(key),
        organization_id,
        user_id,
        member_id: membershipId(organization_id, user_id),
        created_by_key_id: actor.key_id,
        name: body.name,
        role: body.role,
        prefix: prefixOf(key),
        expires_at: earlier(expires_at, await credentials.expiryOf(actor, actor.key_id)),
        last_used_at: null,
        created_at,
      };
      return store.respond(actor, async (within) => {
        if (!(await credentials.keepKey(within, row))) throw Unauthenticated();
        call.audit({ created_key_id: row._id, expires_at: row.expires_at?.toISOString() ?? null });
        return { ...toApiKey(row), key };
      });
    }),

    handle(listApiKeys, async ({ actor, query }) => {
      const [before] = parseCursor(query.cursor, position) ?? [];
      const found = await credentials.listKeys(actor, {
        userId: onlyOwn(actor),
        before,
        limit: query.limit + 1,
      });
      return toPage({ found, limit: query.limit, toItem: toApiKey, position: ({ _id }) => [_id] });
    }),

    handle(deleteApiKey, async ({ actor, params, call }) => {
      call.audit({ revoked_key_id: params.key_id });
      const revoked = await credentials.revoke(actor, params.key_id, onlyOwn(actor));
      if (!revoked) throw NotFound();
      call.audit({ member_id: revoked.user_id });
      return undefined;
    }),
  ];
}

/** What is heard of keys: their use, in any service. Heard twice it changes nothing. */
export function recordKeyUsage({ credentials }: { credentials: Credentials }): Subscriber[] {
  return [
    on(ApiKeyUsed, ({ organization_id, data }) =>
      credentials.noteUse({ organization_id, user_id: null }, data.key_id, new Date(data.used_at)),
    ),
  ];
}

/** Whose keys a member may see and revoke: an admin everybody's. */
function onlyOwn({ role, user_id }: MemberPrincipal): string | undefined {
  return role === 'admin' ? undefined : user_id;
}

function expiryInPast() {
  const errors = [{ path: 'body/expires_at', message: 'Must be in the future' }];
  return InvalidRequest(undefined, { extra: { errors } });
}

/** A key made by a key expires no later than its maker. */
function earlier(asked: Date | null, maker: Date | null): Date | null {
  if (asked === null || maker === null) return asked ?? maker;
  return asked < maker ? asked : maker;
}
