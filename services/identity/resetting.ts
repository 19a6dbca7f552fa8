/** Resetting: a forgotten password is replaced with a token that an admin, or else the operator, hands over. */
import { randomBytes } from 'node:crypto';
import { Forbidden, NotFound } from '#libs/contract';
import { handle } from '#libs/http';
import type { Actor, Store } from '#libs/store';
import {
  createPasswordReset,
  MemberElsewhere,
  NoSuchAccount,
  PasswordNeedsSession,
  ResetInvalid,
  resetAccountPassword,
  resetPassword,
} from './contract.ts';
import type { RejectWeakPassword } from './password-strength.ts';
import type { Passwords } from './passwords.ts';
import { hashCredential } from './principal.ts';
import { type Limit, networkOf } from './rules/limits.ts';
import type { Accounts } from './store/accounts.ts';
import type { Limits } from './store/limits.ts';
import type { PasswordResets } from './store/password-resets.ts';

const openMs = 3_600_000;

/** What resetting needs. */
export interface Resetting {
  store: Pick<Store, 'respond'>;
  accounts: Accounts;
  resets: PasswordResets;
  limits: Limits;
  /** How often new passwords may be set from one address. */
  most: Limit;
  refuseGuessable: RejectWeakPassword;
  passwords: Passwords;
  now: () => Date;
  appUrl: string;
}

/** The operations on forgotten passwords: those of admins and their members, and the operator's. */
export function resetting({
  store,
  accounts,
  resets,
  limits,
  most,
  refuseGuessable,
  passwords,
  now,
  appUrl,
}: Resetting) {
  return {
    handled: [
      handle(createPasswordReset, async ({ actor, params, call }) => {
        call.audit({ member_id: params.member_id });
        const { organization_id } = actor;
        const membership = await accounts.membership(organization_id, params.member_id);
        if (!membership) throw NotFound();
        if (actor.key_id !== null) throw PasswordNeedsSession();
        const { user } = membership;
        if (user._id === actor.user_id)
          throw Forbidden('Change your own password with the one you have: POST /me/password.');
        if ((await accounts.membershipsOf(user)).length > 1) throw MemberElsewhere();
        return store.respond(actor, (within) => newReset(user._id, organization_id, within));
      }),

      handle(resetPassword, async ({ body, call }) => {
        await limits.take(['login', networkOf(call.address)], most);
        const open = await resets.open(hashCredential(body.token), now());
        if (!open) throw ResetInvalid();
        const { reset, user } = open;
        call.audit({ actor_id: user._id, organization_id: reset.organization_id });
        refuseGuessable(body.password, [user.email, user.name], 'body/password');
        if (!(await resets.use(reset, await passwords.hash(body.password)))) throw ResetInvalid();
        return undefined;
      }),
    ],
    operated: [
      handle(resetAccountPassword, async ({ actor, body, call }) => {
        const user = await accounts.userByEmail(body.email);
        if (!user) throw NoSuchAccount();
        call.audit({ organization_id: null, member_id: user._id });
        return store.respond(actor, (within) => newReset(user._id, null, within));
      }),
    ],
  };

  async function newReset(userId: string, organizationId: string | null, within: Actor) {
    const token = randomBytes(32).toString('base64url');
    const created_at = now();
    const expires_at = new Date(created_at.getTime() + openMs);
    const organization_id = organizationId;
    await resets.keep(
      { _id: userId, token_hash: hashCredential(token), organization_id, expires_at, created_at },
      within,
    );
    // behind the #: browsers do not send it, so that it stays out of logs on its way
    const reset_url = `${appUrl}/reset-password#${token}`;
    return { token, reset_url, expires_at: expires_at.toISOString() };
  }
}
