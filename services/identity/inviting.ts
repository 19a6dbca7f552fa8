/** Inviting: how people join an organization. */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { InvalidRequest, id, NotFound, newId, parseCursor } from '#libs/contract';
import { handle, toPage } from '#libs/http';
import type { Store } from '#libs/store';
import {
  acceptInvitation,
  createInvitation,
  deleteInvitation,
  InvitationInvalid,
  listInvitations,
  MemberInvited,
  MemberJoined,
  WrongCredentials,
} from './contract.ts';
import type { WithLoginThrottle } from './login-throttle.ts';
import type { RejectWeakPassword } from './password-strength.ts';
import type { Passwords } from './passwords.ts';
import { toInvitation, toMember } from './presenters.ts';
import { hashCredential } from './principal.ts';
import { type Limit, networkOf } from './rules/limits.ts';
import type { Sessions } from './sessions.ts';
import { password as newPassword } from './shapes.ts';
import type { Accounts } from './store/accounts.ts';
import type { UserRow } from './store/collections.ts';
import type { InvitationRows, Person } from './store/invitations.ts';
import type { Limits } from './store/limits.ts';

const openDays = 7;
/** How often an invitation is looked at again because its person changed at the same moment. */
const maxTries = 3;
const position = z.tuple([id]);

/** What inviting needs. */
export interface Inviting {
  store: Pick<Store, 'respond'>;
  invitations: InvitationRows;
  accounts: Accounts;
  sessions: Sessions;
  refuseGuessable: RejectWeakPassword;
  passwords: Passwords;
  prove: WithLoginThrottle;
  limits: Limits;
  /** How often invitations may be accepted from one address. */
  most: Limit;
  now: () => Date;
  appUrl: string;
}

/** The operations on invitations. */
export function inviting(options: Inviting) {
  const { store, invitations, accounts, sessions, now, appUrl } = options;

  return [
    handle(createInvitation, async ({ actor, body, call }) => {
      call.audit({ role: body.role });
      const token = randomBytes(32).toString('base64url');
      const created_at = now();
      const of = {
        email: body.email,
        role: body.role,
        department: body.department ?? null,
        invited_by: actor.user_id,
        token_hash: hashCredential(token),
        expires_at: new Date(created_at.getTime() + openDays * 86_400_000),
        created_at,
      };
      return store.respond(actor, async (within, tx) => {
        const row = await invitations.invite(within, of);
        tx.publish(MemberInvited, { invitation: toInvitation(row) });
        call.audit({ invitation_id: row._id });
        // behind the #: browsers do not send it, so that it stays out of logs on its way
        return { ...toInvitation(row), token, invite_url: `${appUrl}/invite#${token}` };
      });
    }),

    handle(listInvitations, async ({ actor, query }) => {
      const [before] = parseCursor(query.cursor, position) ?? [];
      const found = await invitations.list(actor, { before, limit: query.limit + 1, at: now() });
      return toPage({ found, limit: query.limit, toItem: toInvitation, position: ({ _id }) => [_id] });
    }),

    handle(deleteInvitation, async ({ actor, params, call }) => {
      call.audit({ invitation_id: params.invitation_id });
      if (!(await invitations.withdraw(actor, params.invitation_id))) throw NotFound();
      return undefined;
    }),

    handle(acceptInvitation, async ({ body, call }) => {
      await options.limits.take(['login', networkOf(call.address)], options.most);
      const at = now();
      for (let tries = 0; tries < maxTries; tries += 1) {
        const open = await invitations.open(hashCredential(body.token), at);
        if (!open) throw InvitationInvalid();
        const { invitation, user, memberships } = open;
        const { _id: invitation_id, organization_id, invited_by, role } = invitation;
        call.audit({ invitation_id, organization_id, invited_by, role });
        const person =
          user && memberships > 0
            ? await known(options, user, body.password, call.address)
            : await renewed(options, user, invitation.email, body);
        const joined = await invitations.accept(invitation, person, at, (accepted, tx) =>
          tx.publish(MemberJoined, { member: toMember(accepted.user, accepted.member) }),
        );
        const membership = joined && (await accounts.membership(invitation.organization_id, joined.user._id));
        if (!membership) continue;
        call.audit({ actor_id: joined.user._id });
        // as the person was when the password was looked at
        return sessions.begin({ ...membership, user: joined.user });
      }
      throw InvitationInvalid();
    }),
  ];
}

/** Somebody who has an account in use proves it by its password. */
async function known(
  { passwords, prove }: Inviting,
  user: UserRow,
  password: string,
  address: string,
): Promise<Person> {
  const proven = await prove({ email: user.email, address }, async () =>
    (await passwords.isRight(password, user.password)) ? user : undefined,
  );
  if (!proven) throw WrongCredentials();
  return { user: proven, isNew: false };
}

/** A new person, or the account of nobody's organization under the invited address, with the password given now. */
async function renewed(
  { passwords, refuseGuessable, now }: Inviting,
  user: UserRow | undefined,
  email: string,
  body: { name: string; password: string },
): Promise<Person> {
  const fitting = newPassword.safeParse(body.password);
  if (!fitting.success) {
    const errors = fitting.error.issues.map(({ message }) => ({ path: 'body/password', message }));
    throw InvalidRequest(undefined, { extra: { errors } });
  }
  refuseGuessable(body.password, [email, body.name], 'body/password');
  const password = await passwords.hash(body.password);
  const kept = {
    _id: user?._id ?? newId(),
    email,
    name: body.name,
    password,
    created_at: user?.created_at ?? now(),
  };
  return { user: kept, isNew: true };
}
