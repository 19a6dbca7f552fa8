/** Credentials in MongoDB: API keys, refresh tokens, signing keys; secrets only as hashes or sealed. */
import type { Acting, Store } from '#libs/store';
import {
  type ApiKeyRow,
  apiKeys,
  type SessionRow,
  type SigningKeyRow,
  sessions,
  signingKeys,
} from './collections.ts';

/** Reads and writes credentials. */
export function credentials(store: Store) {
  const rows = {
    keys: store.rows(apiKeys),
    sessions: store.rows(sessions),
    signing: store.rows(signingKeys),
  };

  return {
    async keepKey(acting: Acting, key: ApiKeyRow): Promise<void> {
      await rows.keys.insertMany([key], { lean: true, ...inside(acting) });
    },

    /** A page of keys, the newest first: one member's, or everybody's. */
    async listKeys(
      { organization_id }: Acting,
      of: { userId: string | undefined; before: string | undefined; limit: number },
    ): Promise<ApiKeyRow[]> {
      const which = {
        organization_id,
        ...(of.userId !== undefined && { user_id: of.userId }),
        ...(of.before !== undefined && { _id: { $lt: of.before } }),
      };
      return rows.keys.find(which).sort({ _id: -1 }).limit(of.limit).lean();
    },

    /** Revokes a key, of one member or of anybody, and every key that it made; false when there is none. */
    async revoke({ organization_id }: Acting, keyId: string, userId: string | undefined): Promise<boolean> {
      const which = { _id: keyId, organization_id, ...(userId !== undefined && { user_id: userId }) };
      const revoked = await rows.keys.findOneAndDelete(which).lean();
      if (!revoked) return false;
      for (let makers = [keyId]; makers.length > 0; ) {
        const made = await rows.keys
          .find({ organization_id, made_by_key: { $in: makers } }, { _id: 1 })
          .lean();
        makers = made.map(({ _id }) => _id);
        await rows.keys.deleteMany({ _id: { $in: makers } });
      }
      return true;
    },

    /** Notes when a key was last used; an older moment changes nothing. */
    async noteUse({ organization_id }: Acting, keyId: string, at: Date): Promise<void> {
      await rows.keys.updateOne({ _id: keyId, organization_id }, { $max: { last_used_at: at } });
    },

    /** The expiry of the key that is asking, if it has one. */
    async expiryOf(acting: Acting, keyId: string | null): Promise<Date | null> {
      if (keyId === null) return null;
      const key = await rows.keys.findOne({ _id: keyId, organization_id: acting.organization_id }).lean();
      return key?.expires_at ?? null;
    },

    async keepSession(session: SessionRow): Promise<void> {
      await rows.sessions.insertMany([session], { lean: true });
    },

    /** Uses up a refresh token. `reused` when it had been used before: then its whole family is gone. */
    async spend(hash: string, at: Date): Promise<SessionRow | 'unknown' | 'reused'> {
      const spent = await rows.sessions
        .findOneAndUpdate({ _id: hash, used: false, expires_at: { $gt: at } }, { used: true })
        .lean();
      if (spent) return spent;
      const before = await rows.sessions.findOne({ _id: hash, used: true }).lean();
      if (!before) return 'unknown';
      await rows.sessions.deleteMany({ family: before.family });
      return 'reused';
    },

    /** Ends a session: all refresh tokens of its family. */
    async end(hash: string): Promise<void> {
      const session = await rows.sessions.findOne({ _id: hash }).lean();
      if (session) await rows.sessions.deleteMany({ family: session.family });
    },

    /** Ends all sessions of a person. */
    async endAll(userId: string): Promise<void> {
      await rows.sessions.deleteMany({ user_id: userId });
    },

    /** The signing keys, newest first. One made before keys had a `signs_from` signs from its making. */
    async signingKeys(): Promise<SigningKeyRow[]> {
      const keys = await rows.signing.find({}).sort({ created_at: -1, _id: -1 }).lean();
      return keys.map((key) => ({ ...key, signs_from: key.signs_from ?? key.created_at }));
    },

    async dropSigningKeys(kids: readonly string[]): Promise<void> {
      await rows.signing.deleteMany({ _id: { $in: [...kids] } });
    },

    async keepSigningKey(key: SigningKeyRow): Promise<void> {
      await rows.signing.insertMany([key], { lean: true });
    },
  };
}

export type Credentials = ReturnType<typeof credentials>;

function inside(acting: Acting) {
  return acting.tx ? { session: acting.tx.session } : {};
}
