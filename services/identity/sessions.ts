/** Sessions: the tokens that a person gets after proving who they are, and their renewal. */
import { randomBytes } from 'node:crypto';
import type { z } from 'zod';
import { toMember, toOrganization } from './presenters.ts';
import { hashCredential } from './principal.ts';
import type { Session } from './shapes.ts';
import type { Signing } from './signing-keys.ts';
import type { Accounts, Membership } from './store/accounts.ts';
import type { SessionRow } from './store/collections.ts';
import type { SessionRows } from './store/sessions.ts';

const sessionDays = 30;
/** The length of the part of a refresh token that names the session: 16 random bytes, base64url. */
const nameLength = 22;

/** What sessions need. */
export interface SessionsOptions {
  sessions: SessionRows;
  accounts: Accounts;
  signing: Signing;
  now: () => Date;
  accessTokenSeconds: number;
}

type Shown = z.infer<typeof Session>;

/** Why a refresh token gives nothing: nobody knows it, it was used before, or its person may not go on. */
export type Refused = { refused: 'unknown' | 'reused' | 'ended'; session: SessionRow | undefined };

/** Begins, renews and ends sessions. */
export function sessionsOf({ sessions, accounts, signing, now, accessTokenSeconds }: SessionsOptions) {
  return {
    /** The first tokens of a person who has just proved who they are, as `user` was then. */
    async begin(membership: Membership): Promise<Shown> {
      const refresh_token = tokenOf(randomBytes(16).toString('base64url'));
      const { user, organization } = membership;
      await sessions.keep({
        _id: hashCredential(nameOf(refresh_token)),
        token_hash: hashCredential(refresh_token),
        organization_id: organization._id,
        user_id: user._id,
        epoch: user.session_epoch ?? 0,
        expires_at: expiry(),
      });
      return shown(membership, refresh_token);
    },

    /** The next tokens; a token that was used before ends its session. */
    async renew(refreshToken: string): Promise<Shown | Refused> {
      const name = nameOf(refreshToken);
      const next = tokenOf(name);
      const found = await sessions.exchange(hashCredential(name), hashCredential(refreshToken), {
        at: now(),
        token_hash: hashCredential(next),
        expires_at: expiry(),
      });
      if (found === 'unknown') return { refused: 'unknown', session: undefined };
      const { session, reused } = found;
      if (reused) return { refused: 'reused', session };
      const membership = await accounts.membership(session.organization_id, session.user_id);
      if (membership && (membership.user.session_epoch ?? 0) === session.epoch)
        return shown(membership, next);
      await sessions.end(session._id);
      return { refused: 'ended', session };
    },

    /** Ends the session that a token is of, also a used one; gives it if there was one. */
    end: (refreshToken: string): Promise<SessionRow | undefined> =>
      sessions.end(hashCredential(nameOf(refreshToken))),
  };

  async function shown({ user, member, organization }: Membership, refresh_token: string): Promise<Shown> {
    return {
      access_token: await signing.token(organization._id, user._id, user.session_epoch ?? 0),
      refresh_token,
      token_type: 'Bearer',
      expires_in: accessTokenSeconds,
      member: toMember(user, member),
      organization: toOrganization(organization),
    };
  }

  function expiry(): Date {
    return new Date(now().getTime() + sessionDays * 86_400_000);
  }
}

export type Sessions = ReturnType<typeof sessionsOf>;

/** A refresh token: the session's name, which only those know who had a token of it, and 32 random bytes. */
function tokenOf(name: string): string {
  return name + randomBytes(32).toString('base64url');
}

function nameOf(refreshToken: string): string {
  return refreshToken.slice(0, nameLength);
}
