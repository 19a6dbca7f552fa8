/** Creates the people and credentials of the permission matrix in three organizations, one on the trial plan. */
import {
  addMember,
  type Member,
  must,
  opsToken,
  type Person,
  register,
  setPlan,
  type TestApp,
} from '#libs/testing';
import type { Actor } from './table.ts';

/** A credential, and the actor that it represents. */
export interface Credential {
  actor: Actor;
  /** Name that is unique among the credentials of the actor. */
  name: string;
  token: string | undefined;
  /** The password of its person. */
  password: string;
  /** The role of a logged-in person in their organization. */
  role?: Role;
  /** Creates another person like this one, for requests that invalidate their own credential. */
  another?: () => Promise<Login>;
  /** Set if the plan of the organization has no webhooks. */
  plan?: 'trial';
}

type Role = 'member' | 'admin';

/** A logged-in person. */
interface Login {
  token: string;
  password: string;
}

/** The members of the organization that owns all resources, and all credentials. */
export interface People {
  /** The admin who registered the organization. */
  admin: Person;
  owner: Member;
  editor: Member;
  member: Member;
  credentials: readonly Credential[];
}

let counter = 0;

/** A unique text with a prefix. */
export function unique(prefix: string): string {
  counter += 1;
  return `${prefix} ${counter}`;
}

/** A unique email address. */
export function uniqueEmail(): string {
  counter += 1;
  return `person-${counter}@example.com`;
}

/** Creates all people and credentials. */
export async function createPeople(app: TestApp): Promise<People> {
  const [admin, neighbour, trialAdmin] = await Promise.all([register(app), register(app), register(app)]);
  await setPlan(app, trialAdmin.organizationId, 'trial');
  const [owner, editor, member, demoted, removed] = await Promise.all([
    addMember(app, admin.token, { role: 'member' }),
    addMember(app, admin.token, { role: 'member' }),
    addMember(app, admin.token, { role: 'member' }),
    addMember(app, admin.token, { role: 'admin' }),
    addMember(app, admin.token, { role: 'admin' }),
  ]);
  const [ownerElsewhere, memberElsewhere] = await Promise.all([
    addMember(app, neighbour.token, { ...owner, role: 'admin' }),
    addMember(app, neighbour.token, { role: 'member' }),
  ]);

  const capped = await createKey(app, admin.token, 'member');
  const [membersKey, demotedKey, removedKey, expired, revoked] = await Promise.all([
    createKey(app, member.token, 'member'),
    createKey(app, demoted.token, 'admin'),
    createKey(app, removed.token, 'admin'),
    createKey(app, admin.token, 'admin'),
    createKey(app, admin.token, 'admin'),
  ]);
  const createdByRevoked = await createKey(app, revoked.key, 'admin');

  const byAdmin = { as: admin.token };
  await must(app, 'PATCH', `/members/${demoted.userId}`, { ...byAdmin, body: { role: 'member' } });
  await must(app, 'DELETE', `/members/${removed.userId}`, byAdmin);
  await must(app, 'DELETE', `/api-keys/${revoked.id}`, byAdmin);
  await expire(app, expired.id);

  const byLogin = (actor: Actor, name: string, login: Login, host: Person, role: Role): Credential => {
    const { token, password } = login;
    return { actor, name, token, password, role, another: () => addMember(app, host.token, { role }) };
  };
  const byKey = (actor: Actor, name: string, key: string, login: Login, role: Role): Credential => {
    const another = async () => {
      const { token, password } = await addMember(app, admin.token, { role });
      return { token: (await createKey(app, token, role)).key, password };
    };
    return { ...byToken(actor, name, key, login), another };
  };
  const byToken = (actor: Actor, name: string, token: string | undefined, login: Login): Credential => {
    return { actor, name, token, password: login.password };
  };
  const credentials = [
    byToken('anonymous', 'nothing', undefined, admin),
    byToken('anonymous', 'the operator’s token', opsToken, admin),
    byLogin('other organization', 'its admin', neighbour, neighbour, 'admin'),
    byLogin('other organization', 'the owner, an admin there', ownerElsewhere, neighbour, 'admin'),
    byLogin('other organization', 'a member there', memberElsewhere, neighbour, 'member'),
    {
      ...byLogin('other organization', 'on the trial plan', trialAdmin, trialAdmin, 'admin'),
      plan: 'trial' as const,
    },
    byLogin('member', 'logged in', member, admin, 'member'),
    byLogin('editor', 'logged in', editor, admin, 'member'),
    byLogin('owner', 'logged in', owner, admin, 'member'),
    byLogin('admin', 'logged in', admin, admin, 'admin'),
    byKey('member key', 'a member’s', membersKey.key, member, 'member'),
    byKey('member key', 'an admin’s, capped to member', capped.key, admin, 'member'),
    byKey('member key', 'a former admin’s', demotedKey.key, demoted, 'member'),
    byKey('admin key', 'an admin’s', admin.key, admin, 'admin'),
    byToken('expired key', 'an admin’s', expired.key, admin),
    byToken('revoked key', 'an admin’s', revoked.key, admin),
    byToken('revoked key', 'created with a revoked key', createdByRevoked.key, admin),
    byToken('removed member', 'logged in', removed.token, removed),
    byToken('removed member', 'their admin’s key', removedKey.key, removed),
  ];
  return { admin, owner, editor, member, credentials };
}

/** Moves the expiry of an API key into the past. */
async function expire(app: TestApp, _id: string): Promise<void> {
  const past = { $set: { expires_at: new Date(Date.now() - 1_000) } };
  const { modifiedCount } = await app.db.collection<{ _id: string }>('api_keys').updateOne({ _id }, past);
  if (modifiedCount !== 1) throw new Error('The API key was not found');
}

function createKey(app: TestApp, token: string, role: Role): Promise<{ id: string; key: string }> {
  return must(app, 'POST', '/api-keys', { as: token, body: { name: 'Matrix', role } });
}
