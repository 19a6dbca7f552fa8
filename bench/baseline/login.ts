/**
 * Login of the baseline: the same password hash, a session row, and an access token signed with the same
 * algorithm (ES256).
 */
import { createHash, generateKeyPairSync, randomBytes, scrypt, sign, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { defaultSettings } from '../../services/identity/rules/default-settings.ts';
import type { Db, Handler, Row } from './handler.ts';

const deriveHash = promisify<string, Uint8Array, number, object, Buffer>(scrypt);
const cost = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };
const seconds = { access: 900, session: 30 * 86_400 };

/** Creates the handlers for logins, by name. */
export function loginHandlers(db: Db) {
  const [users, members, organizations] = ['users', 'members', 'organizations'].map((name) =>
    db.collection<Row>(name),
  );
  const sessions = db.collection<Row>('baseline_sessions');
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

  function createToken(sub: string, org: string): string {
    const iat = Math.floor(Date.now() / 1000);
    const jti = randomBytes(16).toString('hex');
    const text = `${base64url({ alg: 'ES256', kid: 'baseline' })}.${base64url({ sub, org, iat, exp: iat + seconds.access, jti })}`;
    const signature = sign('sha256', Buffer.from(text), { key: privateKey, dsaEncoding: 'ieee-p1363' });
    return `${text}.${signature.toString('base64url')}`;
  }

  const handlers = {
    logIn: async ({ body }) => {
      const user = await users?.findOne({ email: body.email });
      const [, salt = '', expected = ''] = String(user?.password).split('$');
      const hash = await deriveHash(body.password, Buffer.from(salt, 'base64url'), 32, cost);
      if (!user || !timingSafeEqual(hash, Buffer.from(expected, 'base64url')))
        return { status: 401, text: '{}' };
      const member = await members?.findOne({ user_id: user._id });
      const organization = await organizations?.findOne({ _id: member?.organization_id });
      if (!member || !organization) return { status: 401, text: '{}' };
      const refresh_token = randomBytes(48).toString('base64url');
      await sessions.insertOne({
        _id: createHash('sha256').update(refresh_token).digest('base64url'),
        organization_id: organization._id,
        user_id: user._id,
        expires_at: new Date(Date.now() + seconds.session * 1000),
      });
      const { _id: id, name, email } = user;
      const { role, department, joined_at } = member;
      const response = {
        access_token: createToken(id, organization._id),
        refresh_token,
        token_type: 'Bearer',
        expires_in: seconds.access,
        member: { id, name, email, role, department, joined_at },
        organization: {
          id: organization._id,
          name: organization.name,
          slug: organization.slug,
          settings: defaultSettings,
          created_at: organization.created_at,
        },
      };
      return { status: 200, text: JSON.stringify(response) };
    },
  } satisfies Record<string, Handler>;
  return handlers;
}
