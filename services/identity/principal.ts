/** Who is asking: what a bearer token stands for at this very moment, from the views that identity publishes. */
import { createHash, createPublicKey } from 'node:crypto';
import jwt from 'jsonwebtoken';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { RejectedToken } from '#libs/contract';
import type { Principal } from '#libs/http';
import type { Store } from '#libs/store';
import { ApiKeyUsed } from './events.ts';
import { isWellFormedKey } from './rules/api-key.ts';
import { keyPrincipals, memberStates, publicKeys, type Role, subscriptionTerms } from './views.ts';

/** A principal: a member, by an access token or by an API key of theirs. */
export interface MemberPrincipal extends Principal {
  /** The member's role, capped by the key's. */
  readonly role: Role;
  /** The organization's plan now. */
  plan(): Promise<string | undefined>;
}

/** What access tokens say of their maker and their audience. */
export const issuer = 'process-document-service';

const claims = z.object({ sub: z.uuid(), org: z.uuid(), exp: z.number(), epoch: z.number().default(0) });
type Claims = z.infer<typeof claims>;

const unknownKeyPauseMs = 10_000;

/** How far the clocks of replicas may be apart. */
const toleratedSeconds = 60;

/**
 * Makes the function that every service asks who a bearer token stands for; the reason for one that is not valid now.
 * A verified access token is remembered until it expires, but its member is read every time: a removed member, a
 * changed role, a new password and a revoked key count on the next request.
 */
export function createPrincipalReader(
  store: Pick<Store, 'read' | 'transact'>,
  now: () => Date,
): (token: string) => Promise<MemberPrincipal | RejectedToken> {
  const keys = store.read(keyPrincipals).unscoped();
  const members = store.read(memberStates);
  const terms = store.read(subscriptionTerms);
  const claimsOf = tokenVerifier(store, now);
  const noteUse = usageRecorder(store, now);
  const planOf = (organization_id: string) => async () => (await terms.in(organization_id).one({}))?.plan;

  return async (token) => (token.startsWith('pds_') ? byKey(token) : byToken(token));

  async function byKey(token: string): Promise<MemberPrincipal | RejectedToken> {
    if (!isWellFormedKey(token)) return rejected.mistypedKey;
    const key = await keys.one({ hash: hashCredential(token) });
    if (!key) return rejected.unknownKey;
    if (key.expires_at !== null && key.expires_at <= now()) return rejected.expiredKey;
    const { _id: key_id, organization_id, user_id } = key;
    noteUse(organization_id, user_id, key_id);
    const role = key.role === 'admin' && key.member_role === 'admin' ? 'admin' : 'member';
    return { organization_id, user_id, key_id, role, plan: planOf(organization_id) };
  }

  async function byToken(token: string): Promise<MemberPrincipal | RejectedToken> {
    const verified = await claimsOf(token);
    if (verified instanceof RejectedToken) return verified;
    const { org: organization_id, sub: user_id, epoch } = verified;
    const member = await members.in(organization_id).one({ user_id });
    if (!member || (member.session_epoch ?? 0) !== epoch) return rejected.endedSession;
    return { organization_id, user_id, key_id: null, role: member.role, plan: planOf(organization_id) };
  }
}

/**
 * Why a credential is rejected. A stranger learns nothing. A revoked key leaves no row, so its text is that of an unknown
 * key. Only the holder of an expired key, or of an access token with a valid signature, reads that it has expired.
 */
const rejected = {
  mistypedKey: new RejectedToken(
    'This API key is mistyped, its checksum is wrong: copy the whole key again.',
  ),
  unknownKey: new RejectedToken('This API key is unknown or was revoked: create a new one.'),
  expiredKey: new RejectedToken('This API key has expired: create a new one.'),
  invalidToken: new RejectedToken('This access token is not valid: log in again, or send an API key.'),
  expiredToken: new RejectedToken(
    'This access token has expired: get a new one with POST /auth/refresh, or log in again.',
  ),
  endedSession: new RejectedToken('This session has ended: log in again.'),
};

/** Says that a key is in use, at most once a minute for each key; nobody waits for it, and losing one is no loss. */
function usageRecorder(store: Pick<Store, 'transact'>, now: () => Date) {
  const noted = new LRUCache<string, true>({ max: 10_000, ttl: 60_000 });
  return (organization_id: string, user_id: string, key_id: string) => {
    if (noted.has(key_id)) return;
    noted.set(key_id, true);
    const used_at = now().toISOString();
    store
      .transact({ organization_id, user_id }, async (tx) => tx.publish(ApiKeyUsed, { key_id, used_at }))
      .catch(() => noted.delete(key_id));
  };
}

/** SHA-256 of a credential, base64url: what is stored in its place. */
export function hashCredential(credential: string): string {
  return createHash('sha256').update(credential).digest('base64url');
}

/** Verifies access tokens with the published keys; an unknown key id re-reads them, at most once in ten seconds. */
function tokenVerifier(
  store: Pick<Store, 'read'>,
  now: () => Date,
): (token: string) => Promise<Claims | RejectedToken> {
  const verified = new LRUCache<string, Claims>({ max: 10_000 });
  const published = store.read(publicKeys).unscoped();
  let known = new Map<string, string>();
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  return async (token) => {
    const hash = hashCredential(token);
    const nowSeconds = now().getTime() / 1000;
    const before = verified.get(hash);
    if (before) return before.exp + toleratedSeconds > nowSeconds ? before : rejected.expiredToken;
    const header = headerOf(token);
    const key = header && (await keyNamed(header.kid));
    const result = key === undefined ? rejected.invalidToken : verify(token, key, nowSeconds);
    if (!(result instanceof RejectedToken)) verified.set(hash, result);
    return result;
  };

  async function keyNamed(kid: string): Promise<string | undefined> {
    if (!known.has(kid) && !reading && now().getTime() - readAt >= unknownKeyPauseMs) {
      reading = read().finally(() => {
        reading = undefined;
      });
    }
    // whoever comes while the keys are read waits for them too
    if (!known.has(kid)) await reading;
    return known.get(kid);
  }

  async function read(): Promise<void> {
    const rows = await published.many({});
    known = new Map(rows.map((row) => [row._id, pemOf(row.public_jwk)]));
    readAt = now().getTime();
  }
}

function pemOf(jwk: string): string {
  return createPublicKey({ key: JSON.parse(jwk), format: 'jwk' })
    .export({ format: 'pem', type: 'spki' })
    .toString();
}

function headerOf(token: string): { kid: string } | undefined {
  try {
    const kid = jwt.decode(token, { complete: true })?.header.kid;
    return kid === undefined ? undefined : { kid };
  } catch {
    return undefined;
  }
}

function verify(token: string, key: string, nowSeconds: number): Claims | RejectedToken {
  try {
    const options = {
      algorithms: ['ES256' as const],
      issuer,
      audience: issuer,
      clockTimestamp: Math.floor(nowSeconds),
      clockTolerance: toleratedSeconds,
    };
    return claims.safeParse(jwt.verify(token, key, options)).data ?? rejected.invalidToken;
  } catch (error) {
    // the signature is verified before the expiry
    return error instanceof jwt.TokenExpiredError ? rejected.expiredToken : rejected.invalidToken;
  }
}
