/**
 * Sessions in MongoDB. Each session is one row, so that a refresh and a logout at the same time cannot both
 * succeed.
 */
import { type Store, type Transaction, toSessionOptions } from '#libs/store';
import { toMembershipId } from './accounts.ts';
import { members, type SessionRow, sessions } from './collections.ts';

/** The hash and expiry of the next refresh token. */
export interface NextToken {
  at: Date;
  token_hash: string;
  expires_at: Date;
}

/** Creates the repository of sessions. */
export function sessionRepository(store: Store) {
  const rows = { sessions: store.rows(sessions), members: store.rows(members) };

  return {
    /** Inserts a session, in the transaction `tx` if there is one. */
    async insert(row: SessionRow, tx?: Transaction): Promise<void> {
      await rows.sessions.insertMany([row], { lean: true, ...toSessionOptions(tx) });
    },

    async find(_id: string): Promise<SessionRow | undefined> {
      return (await rows.sessions.findOne({ _id }).lean()) ?? undefined;
    },

    /**
     * Replaces the current refresh token by the next one. If the token is an older one of this session,
     * deletes the session and returns it as `reused`.
     */
    async exchangeToken(
      _id: string,
      tokenHash: string,
      { at, ...next }: NextToken,
    ): Promise<{ session: SessionRow; reused: boolean } | 'unknown'> {
      const current = { _id, token_hash: tokenHash, expires_at: { $gt: at } };
      const session = await rows.sessions.findOneAndUpdate(current, { $set: next }).lean();
      if (session) return { session, reused: false };
      const reused = await end({ _id, token_hash: { $ne: tokenHash } }, at);
      return reused ? { session: reused, reused: true } : 'unknown';
    },

    /** Deletes a session and ends its access tokens. Returns it, or undefined if there was none. */
    delete: (_id: string, at: Date): Promise<SessionRow | undefined> => end({ _id }, at),
  };

  async function end(
    filter: { _id: string; token_hash?: { $ne: string } },
    at: Date,
  ): Promise<SessionRow | undefined> {
    const found = await rows.sessions.findOne(filter).lean();
    if (!found) return undefined;
    const { organization_id, user_id } = found;
    return store.transact({ organization_id, user_id }, async ({ session }) => {
      const ended = await rows.sessions.findOneAndDelete(filter, { session }).lean();
      if (!ended) return undefined;
      const change = { $max: { sessions_ended_at: at } };
      await rows.members.updateOne({ _id: toMembershipId(organization_id, user_id) }, change, { session });
      return ended;
    });
  }
}

export type SessionRepository = ReturnType<typeof sessionRepository>;
