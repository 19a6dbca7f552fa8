/**
 * Sessions in MongoDB. Each session is one row, so that a refresh and a logout at the same time cannot both
 * succeed.
 */
import type { Store } from '#libs/store';
import { type SessionRow, sessions } from './collections.ts';

/** The hash and expiry of the next refresh token. */
export interface NextToken {
  at: Date;
  token_hash: string;
  expires_at: Date;
}

/** Creates the repository of sessions. */
export function sessionRepository(store: Store) {
  const rows = store.rows(sessions);

  return {
    async insert(session: SessionRow): Promise<void> {
      await rows.insertMany([session], { lean: true });
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
      const session = await rows.findOneAndUpdate(current, { $set: next }).lean();
      if (session) return { session, reused: false };
      const reused = await rows.findOneAndDelete({ _id, token_hash: { $ne: tokenHash } }).lean();
      return reused ? { session: reused, reused: true } : 'unknown';
    },

    /** Deletes a session. Returns it, or undefined if there was none. */
    async delete(_id: string): Promise<SessionRow | undefined> {
      return (await rows.findOneAndDelete({ _id }).lean()) ?? undefined;
    },
  };
}

export type SessionRepository = ReturnType<typeof sessionRepository>;
