/** Who asks, by the least code: an API key by its hash, an access token by its signature and its member's row. */
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import type { Asker, Db, Row } from './handler.ts';

/** Reads who a bearer token stands for, through the views that every service reads. */
export function askerFrom(db: Db): (token: string) => Promise<Asker | undefined> {
  const keys = db.collection<Row>('api_key_principals');
  const members = db.collection<Row>('member_states');
  const published = db.collection<Row>('signing_keys_public');
  const known = new Map<string, KeyObject>();
  return (token) => (token.startsWith('pds_') ? byKey(token) : byToken(token));

  async function byKey(token: string): Promise<Asker | undefined> {
    const hash = createHash('sha256').update(token).digest('base64url');
    const key = await keys.findOne({ hash });
    return key ? { organization_id: key.organization_id, user_id: key.user_id } : undefined;
  }

  async function byToken(token: string): Promise<Asker | undefined> {
    const [head = '', body = '', signature = ''] = token.split('.');
    const key = await keyOf(parsed(head).kid);
    const signed = Buffer.from(`${head}.${body}`);
    const isRight =
      key &&
      verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(signature, 'base64url'));
    const { sub: user_id, org: organization_id, exp, epoch = 0 } = parsed(body);
    if (!isRight || exp * 1000 < Date.now()) return undefined;
    const member = await members.findOne({ organization_id, user_id });
    return member && (member.session_epoch ?? 0) === epoch ? { organization_id, user_id } : undefined;
  }

  async function keyOf(kid: string): Promise<KeyObject | undefined> {
    if (!known.has(kid))
      for (const { _id, public_jwk } of await published.find({}).toArray())
        known.set(_id, createPublicKey({ key: JSON.parse(public_jwk), format: 'jwk' }));
    return known.get(kid);
  }
}

/** What the head and the body of an access token say, as far as it counts here. */
interface Said {
  kid: string;
  sub: string;
  org: string;
  /** Unix time, s. */
  exp: number;
  epoch?: number;
}

/** Not validated: that is the point of a floor. */
function parsed(part: string): Said {
  return JSON.parse(Buffer.from(part, 'base64url').toString());
}
