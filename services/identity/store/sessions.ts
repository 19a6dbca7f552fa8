/** Sessions in MongoDB: one row each, so that exchanging its token and ending it cannot pass each other. */
import type { Store } from '#libs/store';
import { type SessionRow, sessions } from './collections.ts';

/** The token that follows. */
export interface NextToken {
  at: Date;
  token_hash: string;
  expires_at: Date;
}

/** Reads and writes sessions. */
export function sessionRows(store: Store) {
  const rows = store.rows(sessions);

  return {
    async keep(session: SessionRow): Promise<void> {
      await rows.insertMany([session], { lean: true });
    },

    /** Puts the next token in place of the present one. `reused` when it was another one of this session: then the session has ended. */
    async exchange(
      _id: string,
      presentHash: string,
      { at, ...next }: NextToken,
    ): Promise<{ session: SessionRow; reused: boolean } | 'unknown'> {
      const present = { _id, token_hash: presentHash, expires_at: { $gt: at } };
      const session = await rows.findOneAndUpdate(present, { $set: next }).lean();
      if (session) return { session, reused: false };
      const ended = await rows.findOneAndDelete({ _id, token_hash: { $ne: presentHash } }).lean();
      return ended ? { session: ended, reused: true } : 'unknown';
    },

    /** Ends a session; gives it if there was one. */
    async end(_id: string): Promise<SessionRow | undefined> {
      return (await rows.findOneAndDelete({ _id }).lean()) ?? undefined;
    },
  };
}

export type SessionRows = ReturnType<typeof sessionRows>;
