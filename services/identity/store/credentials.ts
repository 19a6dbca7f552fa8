/** Credentials in MongoDB: API keys and signing keys; secrets only as hashes or sealed. */
import type { Actor, Store } from '#libs/store';
import { type ApiKeyRow, apiKeys, members, type SigningKeyRow, signingKeys } from './collections.ts';

/** Reads and writes credentials. */
export function credentials(store: Store) {
  const rows = {
    keys: store.rows(apiKeys),
    members: store.rows(members),
    signing: store.rows(signingKeys),
  };

  return {
    /** Keeps a new key; false when the key or the membership that makes it has gone. */
    keepKey(acting: Actor, key: ApiKeyRow): Promise<boolean> {
      return store.transact(acting, async ({ session }) => {
        const { organization_id, created_by_key_id, member_id } = key;
        // raised, so that this collides with whoever takes the maker away at the same moment
        const raised = { $inc: { keys_made: 1 } };
        const { matchedCount } =
          created_by_key_id === null
            ? await rows.members.updateOne({ _id: member_id, organization_id }, raised, { session })
            : await rows.keys.updateOne({ _id: created_by_key_id, organization_id }, raised, { session });
        if (matchedCount === 1) await rows.keys.insertMany([key], { lean: true, session });
        return matchedCount === 1;
      });
    },

    /** A page of keys, the newest first: one member's, or everybody's. */
    async listKeys(
      { organization_id }: Actor,
      { userId, before, limit }: { userId: string | undefined; before: string | undefined; limit: number },
    ): Promise<ApiKeyRow[]> {
      const which = {
        organization_id,
        ...(userId !== undefined && { user_id: userId }),
        ...(before !== undefined && { _id: { $lt: before } }),
      };
      return rows.keys.find(which).sort({ _id: -1 }).limit(limit).lean();
    },

    /** Revokes a key, of one member or of anybody, and every key that it made; gives it, or nothing when there is none. */
    revoke(acting: Actor, keyId: string, userId: string | undefined): Promise<ApiKeyRow | undefined> {
      const { organization_id } = acting;
      const which = { _id: keyId, organization_id, ...(userId !== undefined && { user_id: userId }) };
      return store.transact(acting, async ({ session }) => {
        const revoked = await rows.keys.findOneAndDelete(which, { session }).lean();
        for (let makers = revoked ? [keyId] : []; makers.length > 0; ) {
          const made = { organization_id, created_by_key_id: { $in: makers } };
          makers = (await rows.keys.find(made, { _id: 1 }, { session }).lean()).map(({ _id }) => _id);
          await rows.keys.deleteMany({ _id: { $in: makers } }, { session });
        }
        return revoked ?? undefined;
      });
    },

    /** Notes when a key was last used; an older moment changes nothing. */
    async noteUse({ organization_id }: Actor, keyId: string, at: Date): Promise<void> {
      await rows.keys.updateOne({ _id: keyId, organization_id }, { $max: { last_used_at: at } });
    },

    /** The expiry of the key that is asking, if it has one. */
    async expiryOf(acting: Actor, keyId: string | null): Promise<Date | null> {
      if (keyId === null) return null;
      const key = await rows.keys.findOne({ _id: keyId, organization_id: acting.organization_id }).lean();
      return key?.expires_at ?? null;
    },

    /** The signing keys, newest first. One made before keys had a `signs_from` signs from its making. */
    async signingKeys(): Promise<SigningKeyRow[]> {
      const keys = await rows.signing.find({}).sort({ created_at: -1, _id: -1 }).lean();
      return keys.map((key) => ({ ...key, signs_from: key.signs_from ?? key.created_at }));
    },

    /** Drops a signing key; false when another replica was there before. */
    async dropSigningKey(kid: string): Promise<boolean> {
      return (await rows.signing.deleteOne({ _id: kid })).deletedCount === 1;
    },

    async keepSigningKey(key: SigningKeyRow): Promise<void> {
      await rows.signing.insertMany([key], { lean: true });
    },
  };
}

export type Credentials = ReturnType<typeof credentials>;
