/** Password resets: an admin or the operator creates a token, with which a user sets a new password. */
import { randomBytes } from 'node:crypto';
import { Forbidden, NotFound } from '#libs/contract';
import { handle } from '#libs/http';
import type { Actor, Store } from '#libs/store';
import type { PasswordHasher } from '#libs/workers';
import {
  createPasswordReset,
  MemberElsewhere,
  NoSuchAccount,
  ResetInvalid,
  resetAccountPassword,
  resetPassword,
} from '../contract.ts';
import { hashCredential } from '../principal.ts';
import type { RateLimit } from '../rules/rate-limit.ts';
import type { AccountRepository } from '../store/accounts.ts';
import type { PasswordResetRepository } from '../store/password-resets.ts';
import type { RateLimiter } from '../store/rate-limiter.ts';
import type { RejectWeakPassword } from './password-strength.ts';

const validMs = 3_600_000;

/** What the operations on password resets need. */
export interface PasswordResetOptions {
  store: Pick<Store, 'respond'>;
  accounts: AccountRepository;
  resets: PasswordResetRepository;
  rateLimiter: RateLimiter;
  /** How often new passwords may be set from one address. */
  rateLimit: RateLimit;
  rejectWeakPassword: RejectWeakPassword;
  passwords: PasswordHasher;
  now: () => Date;
  appUrl: string;
}

/** Handlers of the operations on password resets, for admins and members and for the operator. */
export function passwordResetHandlers({
  store,
  accounts,
  resets,
  rateLimiter,
  rateLimit,
  rejectWeakPassword,
  passwords,
  now,
  appUrl,
}: PasswordResetOptions) {
  return {
    handlers: [
      handle(
        createPasswordReset,
        async ({ actor, params, call, authorize }) => {
          call.audit({ member_id: params.member_id });
          const { organization_id } = actor;
          const membership = await accounts.findMembership(organization_id, params.member_id);
          if (!membership) throw NotFound();
          authorize(membership);
          const { user } = membership;
          if (user._id === actor.user_id)
            throw Forbidden('You cannot reset your own password: change it with POST /me/password.');
          if ((await accounts.listMemberships(user)).length > 1) throw MemberElsewhere();
          return store.respond(actor, (within) => createReset(user._id, organization_id, within));
        },
        { authorizeReplay: async ({ authorize }) => authorize(undefined) },
      ),

      handle(
        resetPassword,
        async ({ body, call }) => {
          const found = await resets.findOpen(hashCredential(body.token), now());
          if (!found) throw ResetInvalid();
          const { reset, user } = found;
          call.audit({ actor_id: user._id, organization_id: reset.organization_id });
          await rejectWeakPassword(body.password, [user.email, user.name], 'body/password');
          if (!(await resets.complete(reset, await passwords.hash(body.password)))) throw ResetInvalid();
          return undefined;
        },
        { beforeBody: ({ call }) => rateLimiter.consume(['login'], rateLimit, call) },
      ),
    ],
    adminHandlers: [
      handle(resetAccountPassword, async ({ actor, body, call }) => {
        const found = await accounts.findUsersByEmail(body.email);
        const user =
          body.organization_slug === undefined
            ? found[0]
            : await accounts.findMemberOf(body.organization_slug, found);
        if (!user) throw NoSuchAccount();
        call.audit({ organization_id: null, member_id: user._id });
        return store.respond(actor, (within) => createReset(user._id, null, within));
      }),
    ],
  };

  async function createReset(userId: string, organization_id: string | null, actor: Actor) {
    const token = randomBytes(32).toString('base64url');
    const created_at = now();
    const expires_at = new Date(created_at.getTime() + validMs);
    await resets.save(
      { _id: userId, token_hash: hashCredential(token), organization_id, expires_at, created_at },
      actor,
    );
    // the token is in the URL fragment: browsers do not send fragments, so it appears in no access log
    const reset_url = `${appUrl}/reset-password#${token}`;
    return { token, reset_url, expires_at: expires_at.toISOString() };
  }
}
