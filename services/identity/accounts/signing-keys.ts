/**
 * Signing keys: ES256 key pairs for access tokens, rotated without downtime. Private keys are encrypted at
 * rest.
 */
import { generateKeyPairSync } from 'node:crypto';
import { newId } from '#libs/contract';
import { handle } from '#libs/http';
import { type SecurityLog, systemAuditEvent } from '#libs/service';
import type { Sealing } from '#libs/store';
import { getSigningKeys } from '../contract.ts';
import { issuer } from '../principal.ts';
import { findCurrentKey, findExpiredKeys, isRotationDue, publishAheadMs } from '../rules/key-rotation.ts';
import type { SessionRow, SigningKeyRow } from '../store/collections.ts';
import type { SigningKeyRepository } from '../store/signing-keys.ts';

/** How long a process signs with the key that it has read before it reads the keys again, ms. */
const rereadIntervalMs = 15_000;

/** What `createTokenSigner` needs. */
export interface TokenSignerOptions {
  signingKeys: SigningKeyRepository;
  /** Encrypts private keys. */
  sealing: Sealing<Pick<SigningKeyRow, '_id'>>;
  /** Records keys that were created or deleted. */
  securityLog: SecurityLog;
  now: () => Date;
  accessTokenSeconds: number;
}

/** Creates the signer of access tokens, which also rotates its keys and serves the public ones. */
export function createTokenSigner({
  signingKeys,
  sealing,
  securityLog,
  now,
  accessTokenSeconds,
}: TokenSignerOptions) {
  let current: { kid: string; pem: string; readAt: number } | undefined;

  return {
    /** Reads the current key. */
    async prepare(): Promise<void> {
      current = await readCurrentKey();
    },

    /** Creates an access token of a session: an ES256 JWT. */
    async createToken(session: Omit<SessionRow, 'token_hash' | 'expires_at'>): Promise<string> {
      // loaded with the first access token
      const { default: jwt } = await import('jsonwebtoken');
      if (!current || now().getTime() - current.readAt >= rereadIntervalMs) current = await readCurrentKey();
      const iat = Math.floor(now().getTime() / 1000);
      const claims = {
        sub: session.user_id,
        org: session.organization_id,
        sid: session._id,
        epoch: session.epoch,
        iss: issuer,
        aud: issuer,
        iat,
        exp: iat + accessTokenSeconds,
        jti: newId(),
      };
      return jwt.sign(claims, current.pem, { algorithm: 'ES256', keyid: current.kid });
    },

    /** Publishes a new key, which signs one minute later. Returns its id. */
    rotate,

    /**
     * Rotates when the newest key has signed for `days` days, and deletes keys that no valid token was signed
     * with.
     */
    async rotateIfDue(days: number): Promise<void> {
      const keys = await signingKeys.list();
      if (isRotationDue(keys, now(), days)) await rotate('system');
      for (const { _id: kid } of findExpiredKeys(keys, now()))
        if (await signingKeys.delete(kid))
          securityLog(systemAuditEvent('signing_key.delete', 'system', { kid }));
    },

    handlers: [
      handle(getSigningKeys, async () => {
        const keys = await signingKeys.list();
        return { keys: keys.map((key) => JSON.parse(key.public_jwk)) };
      }),
    ],
  };

  async function rotate(by: 'system' | 'operator'): Promise<string> {
    const key = await createKey(new Date(now().getTime() + publishAheadMs), by);
    return key._id;
  }

  /** Reads the current key. Creates one if there is none: at the first start, and after an operator deleted all. */
  async function readCurrentKey() {
    const key = findCurrentKey(await signingKeys.list(), now()) ?? (await createKey(now(), 'system'));
    const pem = sealing.open(key.sealed_private, key);
    return { kid: key._id, pem, readAt: now().getTime() };
  }

  async function createKey(signs_from: Date, by: 'system' | 'operator'): Promise<SigningKeyRow> {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const _id = newId();
    const jwk = { ...publicKey.export({ format: 'jwk' }), kid: _id, alg: 'ES256', use: 'sig' };
    const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
    const sealed_private = sealing.seal(pem, { _id });
    const row = { _id, public_jwk: JSON.stringify(jwk), sealed_private, signs_from, created_at: now() };
    await signingKeys.insert(row);
    securityLog(systemAuditEvent('signing_key.create', by, { kid: _id }));
    return row;
  }
}

export type TokenSigner = ReturnType<typeof createTokenSigner>;
