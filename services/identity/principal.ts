/**
 * Authentication: resolves a bearer token to its current principal, through the views of identity. Every service
 * imports this module.
 */
import { createHash, createPublicKey } from 'node:crypto';
import type Jwt from 'jsonwebtoken';
import { z } from 'zod';
import { RejectedToken } from '#libs/contract';
import { createBoundedCache } from '#libs/http';
import type { Store } from '#libs/store';
import type { MemberPrincipal } from './access.ts';
import { ApiKeyUsed } from './events.ts';
import { createPrincipalLoaders } from './principal-loaders.ts';
import { isWellFormedKey } from './rules/api-key.ts';
import { liveSessions, publicKeys, subscriptionTerms } from './views.ts';

/** The `iss` and `aud` claims of access tokens. */
export const issuer = 'process-document-service';

const claims = z.object({
  sub: z.uuid(),
  org: z.uuid(),
  sid: z.string(),
  iat: z.number(),
  exp: z.number(),
  epoch: z.number(),
});
type Claims = z.infer<typeof claims>;

/** The minimum time between two reads of the public keys that unknown key ids cause, ms. */
const keyRereadIntervalMs = 10_000;

/** How long the public keys are used before they are read again, ms. A deleted key verifies no longer. */
const keysFreshForMs = 60_000;

/** How far the clocks of replicas may differ. */
const clockToleranceSeconds = 60;

/**
 * Creates the function with which every service authenticates a bearer token. It returns the principal, or
 * the reason why the token is rejected. Verified access tokens are cached until they expire, but their member is
 * read on every request. So a removed member, a changed role, a new password, a logout and a revoked key take
 * effect on the next request.
 */
export function createPrincipalReader(
  store: Pick<Store, 'read' | 'transact'>,
  now: () => Date,
): (token: string) => Promise<MemberPrincipal | RejectedToken> {
  const { loadKey, loadMember } = createPrincipalLoaders(store);
  const sessions = store.read(liveSessions);
  const terms = store.read(subscriptionTerms);
  const verifyToken = createTokenVerifier(store, now);
  const recordUse = createUsageRecorder(store, now);
  const planReader = (organization_id: string) => async () => (await terms.in(organization_id).one({}))?.plan;

  return async (token) => (token.startsWith('pds_') ? readApiKey(token) : readAccessToken(token));

  async function readApiKey(token: string): Promise<MemberPrincipal | RejectedToken> {
    if (!isWellFormedKey(token)) return rejected.mistypedKey;
    const key = await loadKey(hashCredential(token));
    if (!key) return rejected.unknownKey;
    if (key.expires_at !== null && key.expires_at <= now()) return rejected.expiredKey;
    const { _id: key_id, organization_id, user_id } = key;
    recordUse(organization_id, user_id, key_id);
    const role = key.role === 'admin' && key.member_role === 'admin' ? 'admin' : 'member';
    return { organization_id, user_id, key_id, role, plan: planReader(organization_id) };
  }

  async function readAccessToken(token: string): Promise<MemberPrincipal | RejectedToken> {
    const verified = await verifyToken(token);
    if (verified instanceof RejectedToken) return verified;
    const { org: organization_id, sub: user_id, epoch } = verified;
    const member = await loadMember({ organization_id, user_id });
    if (!member || (member.session_epoch ?? 0) !== epoch) return rejected.endedSession;
    if (mayHaveEnded(verified, member.sessions_ended_at) && !(await isLive(verified)))
      return rejected.endedSession;
    return { organization_id, user_id, key_id: null, role: member.role, plan: planReader(organization_id) };
  }

  async function isLive({ org, sid }: Claims): Promise<boolean> {
    return (await sessions.in(org).one({ _id: sid })) !== undefined;
  }
}

/**
 * Whether a session of the member ended after the token was issued. It may be another session; the session is read
 * only in this case.
 */
function mayHaveEnded({ iat }: Claims, endedAt: Date | null | undefined): boolean {
  return endedAt != null && endedAt.getTime() / 1000 + clockToleranceSeconds >= iat;
}

/**
 * Why a credential is rejected. The texts reveal nothing to an outsider. A revoked key leaves no row, so it reads
 * like an unknown key. Only the holder of an expired key, or of an access token with a valid signature, reads
 * that it has expired.
 */
const rejected = {
  mistypedKey: new RejectedToken(
    'This API key is mistyped (its checksum is wrong): copy the whole key again.',
  ),
  unknownKey: new RejectedToken('This API key is unknown or was revoked: create a new one.'),
  expiredKey: new RejectedToken('This API key has expired: create a new one.'),
  invalidToken: new RejectedToken('This access token is not valid: log in again, or send an API key.'),
  expiredToken: new RejectedToken(
    'This access token has expired: get a new one with POST /auth/refresh, or log in again.',
  ),
  endedSession: new RejectedToken('This session has ended: log in again.'),
};

/**
 * Creates the function that publishes `api_key.used`, at most once a minute for each key and process.
 * Requests do not wait for it, and a lost event is harmless.
 */
function createUsageRecorder(store: Pick<Store, 'transact'>, now: () => Date) {
  const recent = createBoundedCache<string, true>(10_000, 60_000);
  return (organization_id: string, user_id: string, key_id: string) => {
    if (recent.has(key_id)) return;
    recent.set(key_id, true);
    const used_at = now().toISOString();
    store
      .transact({ organization_id, user_id }, async (tx) => tx.publish(ApiKeyUsed, { key_id, used_at }))
      .catch(() => recent.delete(key_id));
  };
}

/** SHA-256 of a credential, base64url. It is stored in place of the credential. */
export function hashCredential(credential: string): string {
  return createHash('sha256').update(credential).digest('base64url');
}

/**
 * Creates the function that verifies access tokens with the published keys. The keys are read again every minute;
 * an unknown key id makes it read them earlier, at most once in ten seconds.
 */
function createTokenVerifier(
  store: Pick<Store, 'read'>,
  now: () => Date,
): (token: string) => Promise<Claims | RejectedToken> {
  // enough for the people who work at the same time; another check takes less than a millisecond
  const verified = createBoundedCache<string, { claims: Claims; kid: string }>(1_000);
  const published = store.read(publicKeys).unscoped();
  let pemById = new Map<string, string>();
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  return async (token) => {
    const hash = hashCredential(token);
    const nowSeconds = now().getTime() / 1000;
    const cached = verified.get(hash);
    if (cached && (await findKey(cached.kid)) !== undefined) {
      const { claims } = cached;
      return claims.exp + clockToleranceSeconds > nowSeconds ? claims : rejected.expiredToken;
    }
    verified.delete(hash);
    // loaded with the first access token
    const { default: jwt } = await import('jsonwebtoken');
    const kid = readKeyId(jwt, token);
    const key = kid && (await findKey(kid));
    if (!key) return rejected.invalidToken;
    const claims = verifySignature(jwt, token, key, nowSeconds);
    if (!(claims instanceof RejectedToken)) verified.set(hash, { claims, kid });
    return claims;
  };

  async function findKey(kid: string): Promise<string | undefined> {
    const isUsable = () => pemById.has(kid) && now().getTime() - readAt < keysFreshForMs;
    if (!isUsable() && !reading && now().getTime() - readAt >= keyRereadIntervalMs) {
      reading = readKeys().finally(() => {
        reading = undefined;
      });
    }
    // requests that arrive while the keys are read wait for that read
    if (!isUsable()) await reading;
    return pemById.get(kid);
  }

  async function readKeys(): Promise<void> {
    const rows = await published.many({});
    pemById = new Map(rows.map((row) => [row._id, toPem(row.public_jwk)]));
    readAt = now().getTime();
  }
}

function toPem(jwk: string): string {
  return createPublicKey({ key: JSON.parse(jwk), format: 'jwk' })
    .export({ format: 'pem', type: 'spki' })
    .toString();
}

function readKeyId(jwt: typeof Jwt, token: string): string | undefined {
  try {
    return jwt.decode(token, { complete: true })?.header.kid;
  } catch {
    return undefined;
  }
}

function verifySignature(
  jwt: typeof Jwt,
  token: string,
  key: string,
  nowSeconds: number,
): Claims | RejectedToken {
  try {
    const options = {
      algorithms: ['ES256' as const],
      issuer,
      audience: issuer,
      clockTimestamp: Math.floor(nowSeconds),
      clockTolerance: clockToleranceSeconds,
    };
    return claims.safeParse(jwt.verify(token, key, options)).data ?? rejected.invalidToken;
  } catch (error) {
    // the signature is verified before the expiry
    return error instanceof jwt.TokenExpiredError ? rejected.expiredToken : rejected.invalidToken;
  }
}
