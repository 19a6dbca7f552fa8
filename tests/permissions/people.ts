/** The people of the permission matrix: one organization with everyone in it, a neighbour, and one without the Scale plan. */
import { type Asked, opsToken, type Person, register, type Told, type World } from '#libs/testing';
import type { Actor } from './table.ts';

/** One way to ask: who it stands for, and what is sent. */
export interface Credential {
  actor: Actor;
  /** Tells the credentials of one actor apart. */
  name: string;
  token: string | undefined;
  /** The password of the person behind it. */
  password: string;
  /** Set for an organization whose plan lacks webhooks. */
  plan?: 'trial';
  /** Set for who is no admin in another organization. */
  role?: 'member';
}

/** A member with an access token. */
export interface Joined {
  userId: string;
  email: string;
  password: string;
  token: string;
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
export async function must(here: World, method: string, path: string, asked: Asked): Promise<Told['body']> {
  const { status, body } = await here.ask(method, path, asked);
  if (status >= 400) throw new Error(`${method} ${path} is ${status}: ${JSON.stringify(body)}`);
  return body;
}

let made = 0;

/** A text that was not there before. */
export function unique(what: string): string {
  made += 1;
  return `${what} ${made}`;
}

/** An address that was not there before. */
export function uniqueEmail(): string {
  made += 1;
  return `somebody-${made}@example.com`;
}

/** Invites somebody and accepts in their name; somebody with an account proves it by the password. */
export async function join(
  here: World,
  admin: { token: string },
  role: 'member' | 'admin',
  known?: Joined,
): Promise<Joined> {
  const { email, password } = known ?? { email: uniqueEmail(), password: unique('quiet meadow lantern') };
  const invitation = { as: admin.token, body: { email, role } };
  const { token } = await must(here, 'POST', '/members/invitations', invitation);
  const body = { token, name: 'Somebody', password };
  const session = await must(here, 'POST', '/members/invitations/accept', { body });
  return { userId: session.member.id, email, password, token: session.access_token };
}

/** Brings everyone together. */
export async function gather(here: World): Promise<People> {
  const [admin, neighbour, poor] = await Promise.all([register(here), register(here), register(here)]);
  await setPlan(here, poor.organizationId, 'trial');
  const [owner, editor, member, demoted, removed] = await Promise.all([
    join(here, admin, 'member'),
    join(here, admin, 'member'),
    join(here, admin, 'member'),
    join(here, admin, 'admin'),
    join(here, admin, 'admin'),
  ]);
  const [ownerElsewhere, memberElsewhere] = await Promise.all([
    join(here, neighbour, 'admin', owner),
    join(here, neighbour, 'member'),
  ]);

  const capped = await makeKey(here, admin.token, 'member');
  const [membersKey, demotedKey, removedKey, expired, revoked] = await Promise.all([
    makeKey(here, member.token, 'member'),
    makeKey(here, demoted.token, 'admin'),
    makeKey(here, removed.token, 'admin'),
    makeKey(here, admin.token, 'admin'),
    makeKey(here, admin.token, 'admin'),
  ]);
  const childOfRevoked = await makeKey(here, revoked.key, 'admin');

  const byAdmin = { as: admin.token };
  await must(here, 'PATCH', `/members/${demoted.userId}`, { ...byAdmin, body: { role: 'member' } });
  await must(here, 'DELETE', `/members/${removed.userId}`, byAdmin);
  await must(here, 'DELETE', `/api-keys/${revoked.id}`, byAdmin);
  await expire(here, expired.id);

  const as = (actor: Actor, name: string, token: string | undefined, { password }: { password: string }) => ({
    actor,
    name,
    token,
    password,
  });
  const credentials: Credential[] = [
    as('anonymous', 'nothing', undefined, admin),
    as('anonymous', 'the operator’s token', opsToken, admin),
    as('other organization', 'its admin', neighbour.token, neighbour),
    as('other organization', 'the owner, as an admin there', ownerElsewhere.token, owner),
    { ...as('other organization', 'a member there', memberElsewhere.token, memberElsewhere), role: 'member' },
    { ...as('other organization', 'an admin on the trial plan', poor.token, poor), plan: 'trial' },
    as('member', 'logged in', member.token, member),
    as('editor', 'logged in', editor.token, editor),
    as('owner', 'logged in', owner.token, owner),
    as('admin', 'logged in', admin.token, admin),
    as('member key', 'a member’s', membersKey.key, member),
    as('member key', 'an admin’s, capped to member', capped.key, admin),
    as('member key', 'a former admin’s', demotedKey.key, demoted),
    as('admin key', 'an admin’s', admin.key, admin),
    as('expired key', 'an admin’s', expired.key, admin),
    as('revoked key', 'an admin’s', revoked.key, admin),
    as('revoked key', 'made by a revoked key', childOfRevoked.key, admin),
    as('removed member', 'logged in', removed.token, removed),
    as('removed member', 'their admin’s key', removedKey.key, removed),
  ];
  return { admin, owner, editor, member, credentials };
}

/** Sets an organization's plan as the operator. */
async function setPlan(here: World, organizationId: string, plan: string): Promise<void> {
  const { status } = await fetch(`${here.management}/ops/organizations/${organizationId}/subscription`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${opsToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ plan }),
  });
  if (status !== 200) throw new Error(`The plan could not be set: ${status}`);
}

/** Lets a key's time be over, without waiting for it. */
async function expire(here: World, _id: string): Promise<void> {
  const past = { $set: { expires_at: new Date(Date.now() - 1_000) } };
  const { modifiedCount } = await here.db.collection<{ _id: string }>('api_keys').updateOne({ _id }, past);
  if (modifiedCount !== 1) throw new Error('There is no such key');
}

function makeKey(here: World, token: string, role: 'member' | 'admin'): Promise<{ id: string; key: string }> {
  return must(here, 'POST', '/api-keys', { as: token, body: { name: 'Matrix', role } });
}
