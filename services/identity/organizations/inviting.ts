/** Invitations: admins invite people by email, and invited people join the organization. */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { InvalidRequest, id, NotFound, newId, parseCursor } from '#libs/contract';
import { handle, type RequestInfo, toPage } from '#libs/http';
import type { Actor, Store, Transaction } from '#libs/store';
import type { PasswordHasher } from '#libs/workers';
import type { WithLoginThrottle } from '../accounts/login-throttle.ts';
import type { RejectWeakPassword } from '../accounts/password-strength.ts';
import type { Sessions } from '../accounts/sessions.ts';
import {
  acceptInvitation,
  createInvitation,
  deleteInvitation,
  InvitationInvalid,
  inviteToOrganization,
  listInvitations,
  MemberInvited,
  MemberJoined,
  WrongCredentials,
} from '../contract.ts';
import { toMember } from '../presenters.ts';
import { hashCredential } from '../principal.ts';
import type { RateLimit } from '../rules/rate-limit.ts';
import { addUsualNetwork, isUsualNetwork } from '../rules/usual-networks.ts';
import { type Invitation, password as newPassword } from '../shapes.ts';
import type { StorageQuota } from '../storage-quota.ts';
import type { AccountRepository } from '../store/accounts.ts';
import type { InvitationRow, UserRow } from '../store/collections.ts';
import type { InvitationRepository, InvitedAccount } from '../store/invitations.ts';
import type { OrganizationRepository } from '../store/organizations.ts';
import type { RateLimiter } from '../store/rate-limiter.ts';

const validDays = 7;
/** How often accepting an invitation is tried when the account changes at the same time. */
const maxTries = 3;
const position = z.tuple([id]);
const replaceableDetail =
  'The password is wrong. If you did not register this email yourself, send `replace_account: true` and a new password.';

/** What the operations on invitations need. */
export interface InvitationOptions {
  store: Pick<Store, 'respond' | 'withLock'>;
  invitations: InvitationRepository;
  accounts: AccountRepository;
  organizations: OrganizationRepository;
  sessions: Sessions;
  storageQuota: StorageQuota;
  rejectWeakPassword: RejectWeakPassword;
  passwords: PasswordHasher;
  withLoginThrottle: WithLoginThrottle;
  rateLimiter: RateLimiter;
  /** How often invitations may be accepted from one address. */
  rateLimit: RateLimit;
  now: () => Date;
  appUrl: string;
}

/** Handlers of the operations on invitations. */
export function invitationHandlers(options: InvitationOptions) {
  const { store, invitations, organizations, sessions, storageQuota, now, appUrl } = options;

  const handlers = [
    handle(createInvitation, async ({ actor, body, call }) => {
      call.audit({ role: body.role });
      const fields = { ...body, department: body.department ?? null, invited_by: actor.user_id };
      return invite(actor, fields, call, (within) =>
        storageQuota.claim(within, 'pending_invitations', () => invitations.count(within, now())),
      );
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

    handle(
      acceptInvitation,
      async ({ body, call }) => {
        const at = now();
        for (let tries = 0; tries < maxTries; tries += 1) {
          const open = await invitations.findOpen(hashCredential(body.token), at);
          if (!open) throw InvitationInvalid();
          const { invitation, user, memberships } = open;
          const { _id: invitation_id, organization_id, invited_by, role } = invitation;
          call.audit({ invitation_id, organization_id, invited_by, role });
          const isReplaceable = user !== undefined && hasUnconfirmedEmail(user, memberships);
          const replaces = isReplaceable && body.replace_account ? user : undefined;
          const account =
            user && memberships > 0 && !replaces
              ? await verifyAccount(options, user, { isReplaceable, password: body.password }, call.address)
              : await prepareAccount(
                  options,
                  { user, replaces, email: invitation.email },
                  body,
                  call.address,
                );
          if (replaces) call.audit({ replaced_account_id: replaces._id });
          const request = { at, request_id: call.requestId };
          const session = await invitations.accept(invitation, account, request, (joined, tx) => {
            tx.publish(MemberJoined, { member: toMember(joined.user, joined.member) });
            return sessions.start(joined, tx);
          });
          if (!session) continue;
          call.audit({ actor_id: session.member.id });
          return { ...session, replaced_account: replaces ? { detail: replacedDetail } : null };
        }
        throw InvitationInvalid();
      },
      { beforeBody: ({ call }) => options.rateLimiter.consume(['login'], options.rateLimit, call) },
    ),
  ];

  const adminHandlers = [
    handle(inviteToOrganization, async ({ actor, params, body, call }) => {
      const { organization_id } = params;
      call.audit({ organization_id, role: body.role });
      // the event belongs to the organization, and has no user as its actor
      const system = { ...actor, organization_id, user_id: null };
      if (!(await organizations.get(system))) throw NotFound();
      return invite(system, { ...body, department: null, invited_by: null }, call);
    }),
  ];

  return { handlers, adminHandlers };

  async function invite(
    actor: Actor,
    fields: Pick<InvitationRow, 'email' | 'role' | 'department' | 'invited_by'>,
    call: RequestInfo,
    // the operator may always invite
    claim: (within: Actor & { tx: Transaction }) => Promise<void> = async () => undefined,
  ) {
    const token = randomBytes(32).toString('base64url');
    const created_at = now();
    const expires_at = new Date(created_at.getTime() + validDays * 86_400_000);
    const create = async (within: Actor & { tx: Transaction }, tx: Transaction) => {
      const newInvitation = { ...fields, token_hash: hashCredential(token), expires_at, created_at };
      const row = await invitations.save(within, newInvitation, () => claim(within));
      tx.publish(MemberInvited, { invitation: toInvitation(row) });
      call.audit({ invitation_id: row._id });
      // the token is in the URL fragment: browsers do not send fragments, so it appears in no access log
      return { ...toInvitation(row), token, invite_url: `${appUrl}/invite#${token}` };
    };
    // creations of one organization would conflict in MongoDB
    return store.withLock(actor.organization_id, () => store.respond(actor, create));
  }
}

/** Tells the new owner of an email what happened to the account that had it (docs/adr/0036). */
const replacedDetail =
  'Another account had registered this email without confirming it, and has lost it to your new account. ' +
  'The organization that it founded stays with it: you are not a member there.';

/**
 * Whether the holder of an invitation may take over the email of this account: nobody has confirmed it by accepting an
 * invitation, so its only membership is that of the organization that it founded itself.
 */
function hasUnconfirmedEmail({ joined }: UserRow, memberships: number): boolean {
  return joined === undefined && memberships === 1;
}

/** Verifies the password of an account that is a member of some organization. */
async function verifyAccount(
  { passwords, withLoginThrottle, accounts, now }: InvitationOptions,
  user: UserRow,
  { password, isReplaceable }: { password: string; isReplaceable: boolean },
  address: string,
): Promise<InvitedAccount> {
  const isUsual = isUsualNetwork(user, address, now());
  const verified = await withLoginThrottle({ email: user.email, address, isUsual }, async () =>
    (await passwords.verify(password, user.password)) ? user : undefined,
  );
  if (!verified) throw WrongCredentials(isReplaceable ? replaceableDetail : undefined);
  await accounts.recordNetwork(verified, address, now());
  return { user: verified, isNew: false };
}

/**
 * Prepares a new account. An account with the invited email that is in no organization keeps its id and takes
 * the new name and password. An account that it `replaces` keeps all but its email.
 */
async function prepareAccount(
  { passwords, rejectWeakPassword, now }: InvitationOptions,
  { user, replaces, email }: { user: UserRow | undefined; replaces: UserRow | undefined; email: string },
  body: { name: string; password: string },
  address: string,
): Promise<InvitedAccount> {
  const parsed = newPassword.safeParse(body.password);
  if (!parsed.success) {
    const errors = parsed.error.issues.map(({ message }) => ({ path: 'body/password', message }));
    throw InvalidRequest(undefined, { extra: { errors } });
  }
  await rejectWeakPassword(body.password, [email, body.name], 'body/password');
  const password = await passwords.hash(body.password);
  const existing = replaces ? undefined : user;
  const _id = existing?._id ?? newId();
  const account = {
    _id,
    email,
    name: body.name,
    password,
    // those of an earlier owner of the account are forgotten
    usual_networks: addUsualNetwork({ _id }, address, now()) ?? [],
    created_at: existing?.created_at ?? now(),
  };
  return { user: account, isNew: true, ...(replaces && { replaces }) };
}

/** Maps an invitation, without its token. */
function toInvitation(row: InvitationRow): z.infer<typeof Invitation> {
  const { _id, email, role, department, invited_by, expires_at, created_at } = row;
  const times = { expires_at: expires_at.toISOString(), created_at: created_at.toISOString() };
  return { id: _id, email, role, department, invited_by, ...times };
}
