/** Authenticates baseline requests: API keys by hash, access tokens by signature and the member's row. */
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import type { Db, Principal, Row } from './handler.ts';

/**
 * Creates a function that resolves a bearer token to its principal, through the same views as the services.
 */
export function createAuthenticator(db: Db): (token: string) => Promise<Principal | undefined> {
  const keys = db.collection<Row>('api_key_principals');
  const members = db.collection<Row>('member_states');
  const published = db.collection<Row>('signing_keys_public');
  const publicKeys = new Map<string, KeyObject>();
  return (token) => (token.startsWith('pds_') ? authenticateKey(token) : authenticateToken(token));

  async function authenticateKey(token: string): Promise<Principal | undefined> {
    const hash = createHash('sha256').update(token).digest('base64url');
    const key = await keys.findOne({ hash });
    return key ? { organization_id: key.organization_id, user_id: key.user_id } : undefined;
  }

  async function authenticateToken(token: string): Promise<Principal | undefined> {
    const [head = '', body = '', signature = ''] = token.split('.');
    const key = await getPublicKey(parseTokenPart(head).kid);
    const signed = Buffer.from(`${head}.${body}`);
    const isValid =
      key &&
      verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(signature, 'base64url'));
    const { sub: user_id, org: organization_id, exp, epoch = 0 } = parseTokenPart(body);
    if (!isValid || exp * 1000 < Date.now()) return undefined;
    const member = await members.findOne({ organization_id, user_id });
    return member && (member.session_epoch ?? 0) === epoch ? { organization_id, user_id } : undefined;
  }

  async function getPublicKey(kid: string): Promise<KeyObject | undefined> {
    if (!publicKeys.has(kid))
      for (const { _id, public_jwk } of await published.find({}).toArray())
        publicKeys.set(_id, createPublicKey({ key: JSON.parse(public_jwk), format: 'jwk' }));
    return publicKeys.get(kid);
  }
}

/** The fields of an access token's header and payload that the baseline reads. */
interface TokenPart {
  kid: string;
  sub: string;
  org: string;
  /** Unix time, s. */
  exp: number;
  epoch?: number;
}

/** Parses a part of an access token. The baseline does not validate it. */
function parseTokenPart(part: string): TokenPart {
  return JSON.parse(Buffer.from(part, 'base64url').toString());
}
