/** The people of the permission matrix: one organization with everyone in it, a neighbour, and one without the Scale plan. */
import {
  opsToken,
  type Person,
  register,
  type TestApp,
  type TestRequest,
  type TestResponse,
} from '#libs/testing';
import type { Actor } from './table.ts';

/** One way to ask: who it stands for, and what is sent. */
export interface Credential {
  actor: Actor;
  /** Tells the credentials of one actor apart. */
  name: string;
  token: string | undefined;
  /** The password of the person behind it. */
  password: string;
  /** The role of who is logged in, in their organization. */
  role?: Role;
  /** Joins a new person like this one, who may end their credential by using it. */
  another?: () => Promise<Login>;
  /** Set for an organization whose plan lacks webhooks. */
  plan?: 'trial';
}

type Role = 'member' | 'admin';

/** Somebody who is logged in. */
interface Login {
  token: string;
  password: string;
}

/** Somebody who accepted an invitation. */
export interface Joined extends Login {
  userId: string;
  email: string;
}

/** Everyone, and the organization that all things belong to. */
export interface People {
  /** The admin who founded the organization. */
  admin: Person;
  owner: Joined;
  editor: Joined;
  member: Joined;
  credentials: readonly Credential[];
}

/** Asks for something that the set-up needs; rejects when it is not given. */
export async function must(
  app: TestApp,
  method: string,
  path: string,
  request: TestRequest,
): Promise<TestResponse['body']> {
  const { status, body } = await app.request(method, path, request);
  if (status >= 400) throw new Error(`${method} ${path} is ${status}: ${JSON.stringify(body)}`);
  return body;
}

let counter = 0;

/** A text that was not there before. */
export function unique(what: string): string {
  counter += 1;
  return `${what} ${counter}`;
}

/** An address that was not there before. */
export function uniqueEmail(): string {
  counter += 1;
  return `somebody-${counter}@example.com`;
}

/** Invites somebody and accepts in their name; somebody with an account proves it by the password. */
export async function join(
  app: TestApp,
  admin: { token: string },
  role: Role,
  known?: Joined,
): Promise<Joined> {
  const { email, password } = known ?? { email: uniqueEmail(), password: unique('quiet meadow lantern') };
  const invitation = { as: admin.token, body: { email, role } };
  const { token } = await must(app, 'POST', '/members/invitations', invitation);
  const body = { token, name: 'Somebody', password };
  const session = await must(app, 'POST', '/members/invitations/accept', { body });
  return { userId: session.member.id, email, password, token: session.access_token };
}

/** Brings everyone together. */
export async function createPeople(app: TestApp): Promise<People> {
  const [admin, neighbour, trialAdmin] = await Promise.all([register(app), register(app), register(app)]);
  await setPlan(app, trialAdmin.organizationId, 'trial');
  const [owner, editor, member, demoted, removed] = await Promise.all([
    join(app, admin, 'member'),
    join(app, admin, 'member'),
    join(app, admin, 'member'),
    join(app, admin, 'admin'),
    join(app, admin, 'admin'),
  ]);
  const [ownerElsewhere, memberElsewhere] = await Promise.all([
    join(app, neighbour, 'admin', owner),
    join(app, neighbour, 'member'),
  ]);

  const capped = await createKey(app, admin.token, 'member');
  const [membersKey, demotedKey, removedKey, expired, revoked] = await Promise.all([
    createKey(app, member.token, 'member'),
    createKey(app, demoted.token, 'admin'),
    createKey(app, removed.token, 'admin'),
    createKey(app, admin.token, 'admin'),
    createKey(app, admin.token, 'admin'),
  ]);
  const childOfRevoked = await createKey(app, revoked.key, 'admin');

  const byAdmin = { as: admin.token };
  await must(app, 'PATCH', `/members/${demoted.userId}`, { ...byAdmin, body: { role: 'member' } });
  await must(app, 'DELETE', `/members/${removed.userId}`, byAdmin);
  await must(app, 'DELETE', `/api-keys/${revoked.id}`, byAdmin);
  await expire(app, expired.id);

  const byLogin = (actor: Actor, name: string, who: Login, host: Person, role: Role): Credential => {
    const { token, password } = who;
    return { actor, name, token, password, role, another: () => join(app, host, role) };
  };
  const byToken = (actor: Actor, name: string, token: string | undefined, who: Login): Credential => {
    return { actor, name, token, password: who.password };
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
    byToken('member key', 'a member’s', membersKey.key, member),
    byToken('member key', 'an admin’s, capped to member', capped.key, admin),
    byToken('member key', 'a former admin’s', demotedKey.key, demoted),
    byToken('admin key', 'an admin’s', admin.key, admin),
    byToken('expired key', 'an admin’s', expired.key, admin),
    byToken('revoked key', 'an admin’s', revoked.key, admin),
    byToken('revoked key', 'made by a revoked key', childOfRevoked.key, admin),
    byToken('removed member', 'logged in', removed.token, removed),
    byToken('removed member', 'their admin’s key', removedKey.key, removed),
  ];
  return { admin, owner, editor, member, credentials };
}

/** Sets an organization's plan as the operator. */
async function setPlan(app: TestApp, organizationId: string, plan: string): Promise<void> {
  const { status } = await fetch(`${app.management}/ops/organizations/${organizationId}/subscription`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${opsToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ plan }),
  });
  if (status !== 200) throw new Error(`The plan could not be set: ${status}`);
}

/** Lets a key's time be over, without waiting for it. */
async function expire(app: TestApp, _id: string): Promise<void> {
  const past = { $set: { expires_at: new Date(Date.now() - 1_000) } };
  const { modifiedCount } = await app.db.collection<{ _id: string }>('api_keys').updateOne({ _id }, past);
  if (modifiedCount !== 1) throw new Error('There is no such key');
}

function createKey(app: TestApp, token: string, role: Role): Promise<{ id: string; key: string }> {
  return must(app, 'POST', '/api-keys', { as: token, body: { name: 'Matrix', role } });
}
