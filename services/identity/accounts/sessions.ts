/** Sessions: creates, refreshes and ends them, and issues their tokens. */
import { randomBytes } from 'node:crypto';
import type { z } from 'zod';
import type { Transaction } from '#libs/store';
import { toMember, toOrganization } from '../presenters.ts';
import { hashCredential } from '../principal.ts';
import type { Session } from '../shapes.ts';
import type { AccountRepository, Membership } from '../store/accounts.ts';
import type { SessionRow } from '../store/collections.ts';
import type { SessionRepository } from '../store/sessions.ts';
import type { TokenSigner } from './signing-keys.ts';

const sessionLifetimeDays = 30;
/** Length of the session name, the first part of a refresh token: 16 random bytes, base64url. */
const nameLength = 22;

/** What `createSessions` needs. */
export interface SessionsOptions {
  sessions: SessionRepository;
  accounts: AccountRepository;
  signer: TokenSigner;
  now: () => Date;
  accessTokenSeconds: number;
}

type SessionReply = z.infer<typeof Session>;

/**
 * Why a refresh token is rejected: it is unknown, it was used before, or its session has ended. `session` is
 * the session that the token belonged to, if there was one.
 */
export type RefreshTokenRejected = {
  rejectReason: 'unknown' | 'reused' | 'ended';
  session: SessionRow | undefined;
};

/** Creates the functions that start, refresh and end sessions. */
export function createSessions({ sessions, accounts, signer, now, accessTokenSeconds }: SessionsOptions) {
  return {
    /**
     * Starts a session after a successful login, in the transaction `tx` if there is one. `membership.user` is the
     * user as it was when the password was verified.
     */
    async start(membership: Membership, tx?: Transaction): Promise<SessionReply> {
      const refresh_token = createRefreshToken(randomBytes(16).toString('base64url'));
      const { user, organization } = membership;
      const session = {
        _id: hashCredential(getSessionName(refresh_token)),
        token_hash: hashCredential(refresh_token),
        organization_id: organization._id,
        user_id: user._id,
        epoch: user.session_epoch ?? 0,
        expires_at: getExpiry(),
      };
      const reply = await toReply(membership, session, refresh_token);
      await sessions.insert(session, tx);
      return reply;
    },

    /** Exchanges a refresh token for new tokens. A token that was used before ends its session. */
    async refresh(refreshToken: string): Promise<SessionReply | RefreshTokenRejected> {
      const name = getSessionName(refreshToken);
      const [_id, next] = [hashCredential(name), createRefreshToken(name)];
      // before the exchange: if the reply cannot be created, the caller's token must stay valid
      const reply = await createReply(await sessions.find(_id), next);
      const found = await sessions.exchangeToken(_id, hashCredential(refreshToken), {
        at: now(),
        token_hash: hashCredential(next),
        expires_at: getExpiry(),
      });
      if (found === 'unknown') return { rejectReason: 'unknown', session: undefined };
      const { session, reused } = found;
      if (reused) return { rejectReason: 'reused', session };
      if (reply) return reply;
      await sessions.delete(session._id, now());
      return { rejectReason: 'ended', session };
    },

    /**
     * Ends the session of a refresh token, also of a used one, and its access tokens. Returns the session, or
     * undefined if there was none.
     */
    end: (refreshToken: string): Promise<SessionRow | undefined> =>
      sessions.delete(hashCredential(getSessionName(refreshToken)), now()),
  };

  /** The reply with the next tokens of a session, or undefined if the session is absent or has ended. */
  async function createReply(
    session: SessionRow | undefined,
    refreshToken: string,
  ): Promise<SessionReply | undefined> {
    const membership = session && (await accounts.findMembership(session.organization_id, session.user_id));
    if (!membership || (membership.user.session_epoch ?? 0) !== session.epoch) return undefined;
    return toReply(membership, session, refreshToken);
  }

  async function toReply(
    { user, member, organization }: Membership,
    session: SessionRow,
    refresh_token: string,
  ): Promise<SessionReply> {
    return {
      access_token: await signer.createToken(session),
      refresh_token,
      token_type: 'Bearer',
      expires_in: accessTokenSeconds,
      member: toMember(user, member),
      organization: toOrganization(organization),
    };
  }

  function getExpiry(): Date {
    return new Date(now().getTime() + sessionLifetimeDays * 86_400_000);
  }
}

export type Sessions = ReturnType<typeof createSessions>;

/** A refresh token: the secret name of its session, then 32 random bytes. */
function createRefreshToken(name: string): string {
  return name + randomBytes(32).toString('base64url');
}

function getSessionName(refreshToken: string): string {
  return refreshToken.slice(0, nameLength);
}
