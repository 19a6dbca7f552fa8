/** Signing keys: ES256 key pairs for access tokens; private halves are sealed at rest. */
import { generateKeyPairSync } from 'node:crypto';
import jwt from 'jsonwebtoken';
import { newId } from '#libs/contract';
import { handle } from '#libs/http';
import type { KeyRing } from '#libs/store';
import { getKeySet } from './contract.ts';
import { issuer } from './principal.ts';
import type { Credentials } from './store/credentials.ts';

/** Makes access tokens and publishes the keys to check them with. */
export function signing(of: {
  credentials: Credentials;
  ring: KeyRing;
  now: () => Date;
  lifeSeconds: number;
}) {
  let current: { kid: string; pem: string } | undefined;

  return {
    /** Makes the first key if there is none, and takes the newest to sign with. */
    async prepare(): Promise<void> {
      const [newest] = await of.credentials.signingKeys();
      const row = newest ?? (await makeKey());
      const pem = of.ring.open(row.sealed_private, sealContext(row._id));
      current = { kid: row._id, pem };
    },

    /** An access token: JWT, ES256, naming the user and the organization. */
    token(organizationId: string, userId: string): string {
      if (!current) throw new Error('There is no signing key yet');
      const iat = Math.floor(of.now().getTime() / 1000);
      const claims = {
        sub: userId,
        org: organizationId,
        iss: issuer,
        aud: issuer,
        iat,
        exp: iat + of.lifeSeconds,
        jti: newId(),
      };
      return jwt.sign(claims, current.pem, { algorithm: 'ES256', keyid: current.kid });
    },

    handled: [
      handle(getKeySet, async () => {
        const rows = await of.credentials.signingKeys();
        return { keys: rows.map((row) => JSON.parse(row.public_jwk)) };
      }),
    ],
  };

  async function makeKey() {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const kid = newId();
    const public_jwk = JSON.stringify({
      ...publicKey.export({ format: 'jwk' }),
      kid,
      alg: 'ES256',
      use: 'sig',
    });
    const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
    const row = {
      _id: kid,
      public_jwk,
      sealed_private: of.ring.seal(pem, sealContext(kid)),
      created_at: of.now(),
    };
    await of.credentials.keepSigningKey(row);
    return row;
  }
}

export type Signing = ReturnType<typeof signing>;

function sealContext(kid: string): string {
  return `signing_keys/${kid}`;
}
