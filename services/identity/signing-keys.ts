/** Signing keys: ES256 key pairs for access tokens, exchanged without downtime; private halves are sealed at rest. */
import { generateKeyPairSync } from 'node:crypto';
import jwt from 'jsonwebtoken';
import { newId } from '#libs/contract';
import { handle } from '#libs/http';
import { type SecurityLog, systemAuditEvent } from '#libs/service';
import type { Sealing } from '#libs/store';
import { getSigningKeys } from './contract.ts';
import { issuer } from './principal.ts';
import { isRotationDue, outlived, publishedBeforeMs, signerAt } from './rules/key-rotation.ts';
import type { SigningKeyRow } from './store/collections.ts';
import type { Credentials } from './store/credentials.ts';

/** How long a process signs with the key that it read, ms. */
const readEveryMs = 15_000;

/** What signing needs. */
export interface SigningOptions {
  credentials: Credentials;
  /** Seals private halves. */
  sealing: Sealing<Pick<SigningKeyRow, '_id'>>;
  /** Told of keys that were made and dropped. */
  audited: SecurityLog;
  now: () => Date;
  lifeSeconds: number;
}

/** Makes access tokens and publishes the keys to check them with. */
export function signing({ credentials, sealing, audited, now, lifeSeconds }: SigningOptions) {
  let current: { kid: string; pem: string; readAt: number } | undefined;

  return {
    /** Makes the first key if there is none. */
    async prepare(): Promise<void> {
      const keys = await credentials.signingKeys();
      if (keys.length === 0) await makeKey(now(), 'system');
      current = await read();
    },

    /** An access token: JWT, ES256, naming the user, the organization and the user's `session_epoch`. */
    async token(organizationId: string, userId: string, epoch: number): Promise<string> {
      if (!current || now().getTime() - current.readAt >= readEveryMs) current = await read();
      const iat = Math.floor(now().getTime() / 1000);
      const claims = {
        sub: userId,
        org: organizationId,
        epoch,
        iss: issuer,
        aud: issuer,
        iat,
        exp: iat + lifeSeconds,
        jti: newId(),
      };
      return jwt.sign(claims, current.pem, { algorithm: 'ES256', keyid: current.kid });
    },

    /** Publishes a new key, which signs a minute later; gives its id. */
    rotate,

    /** Rotates when the newest key has signed for so many days, and drops keys that no token names any more. */
    async keepFresh(days: number): Promise<void> {
      const keys = await credentials.signingKeys();
      if (isRotationDue(keys, now(), days)) await rotate('system');
      for (const { _id: kid } of outlived(keys, now()))
        if (await credentials.dropSigningKey(kid))
          audited(systemAuditEvent('signing_key.delete', 'system', { kid }));
    },

    handled: [
      handle(getSigningKeys, async () => {
        const keys = await credentials.signingKeys();
        return { keys: keys.map((key) => JSON.parse(key.public_jwk)) };
      }),
    ],
  };

  function rotate(by: 'system' | 'operator'): Promise<string> {
    return makeKey(new Date(now().getTime() + publishedBeforeMs), by);
  }

  async function read() {
    const signer = signerAt(await credentials.signingKeys(), now());
    if (!signer) throw new Error('There is no signing key');
    const pem = sealing.open(signer.sealed_private, signer);
    return { kid: signer._id, pem, readAt: now().getTime() };
  }

  async function makeKey(signs_from: Date, by: 'system' | 'operator'): Promise<string> {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const _id = newId();
    const jwk = { ...publicKey.export({ format: 'jwk' }), kid: _id, alg: 'ES256', use: 'sig' };
    const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
    const sealed_private = sealing.seal(pem, { _id });
    const row = { _id, public_jwk: JSON.stringify(jwk), sealed_private, signs_from, created_at: now() };
    await credentials.keepSigningKey(row);
    audited(systemAuditEvent('signing_key.create', by, { kid: _id }));
    return _id;
  }
}

export type Signing = ReturnType<typeof signing>;
