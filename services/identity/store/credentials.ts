/** Credentials in MongoDB: API keys, stored as hashes, and signing keys, stored encrypted. */
import { NotFound } from '#libs/contract';
import type { Actor, Store } from '#libs/store';
import { type ApiKeyRow, apiKeys, members, type SigningKeyRow, signingKeys } from './collections.ts';

/** Creates the repository of credentials. */
export function credentialRepository(store: Store) {
  const rows = {
    keys: store.rows(apiKeys),
    members: store.rows(members),
    signing: store.rows(signingKeys),
  };

  return {
    /** Inserts an API key. Returns false if the key or the membership that creates it no longer exists. */
    insertKey(actor: Actor, key: ApiKeyRow): Promise<boolean> {
      return store.transact(actor, async ({ session }) => {
        const { organization_id, created_by_key_id, member_id } = key;
        // the increment makes this transaction conflict with a concurrent deletion of the creator
        const increment = { $inc: { keys_made: 1 } };
        const { matchedCount } =
          created_by_key_id === null
            ? await rows.members.updateOne({ _id: member_id, organization_id }, increment, { session })
            : await rows.keys.updateOne({ _id: created_by_key_id, organization_id }, increment, { session });
        if (matchedCount === 1) await rows.keys.insertMany([key], { lean: true, session });
        return matchedCount === 1;
      });
    },

    /** A page of API keys, newest first: those of one user, or of the whole organization. */
    async listKeys(
      { organization_id }: Actor,
      { userId, before, limit }: { userId: string | undefined; before: string | undefined; limit: number },
    ): Promise<ApiKeyRow[]> {
      const filter = {
        organization_id,
        ...(userId !== undefined && { user_id: userId }),
        ...(before !== undefined && { _id: { $lt: before } }),
      };
      return rows.keys.find(filter).sort({ _id: -1 }).limit(limit).lean();
    },

    /**
     * Deletes an API key and all keys created with it, directly or indirectly, and returns the key. Throws
     * `NotFound`, or what `authorize` throws for this key.
     */
    revokeKey(actor: Actor, keyId: string, authorize: (key: ApiKeyRow) => void): Promise<ApiKeyRow> {
      const { organization_id } = actor;
      return store.transact(actor, async ({ session }) => {
        const revoked = await rows.keys.findOneAndDelete({ _id: keyId, organization_id }, { session }).lean();
        if (!revoked) throw NotFound();
        authorize(revoked);
        for (let creators = [keyId]; creators.length > 0; ) {
          const created = { organization_id, created_by_key_id: { $in: creators } };
          creators = (await rows.keys.find(created, { _id: 1 }, { session }).lean()).map(({ _id }) => _id);
          await rows.keys.deleteMany({ _id: { $in: creators } }, { session });
        }
        return revoked;
      });
    },

    /** Records when an API key was last used. An older time changes nothing. */
    async recordUse({ organization_id }: Actor, keyId: string, at: Date): Promise<void> {
      await rows.keys.updateOne({ _id: keyId, organization_id }, { $max: { last_used_at: at } });
    },

    /** The expiry of an API key; null without a key or an expiry. */
    async getKeyExpiry(actor: Actor, keyId: string | null): Promise<Date | null> {
      if (keyId === null) return null;
      const key = await rows.keys.findOne({ _id: keyId, organization_id: actor.organization_id }).lean();
      return key?.expires_at ?? null;
    },

    /** The signing keys, newest first. An old row without `signs_from` signs from its creation. */
    async listSigningKeys(): Promise<SigningKeyRow[]> {
      const keys = await rows.signing.find({}).sort({ created_at: -1, _id: -1 }).lean();
      return keys.map((key) => ({ ...key, signs_from: key.signs_from ?? key.created_at }));
    },

    /** Deletes a signing key. Returns false if another replica has already deleted it. */
    async deleteSigningKey(kid: string): Promise<boolean> {
      return (await rows.signing.deleteOne({ _id: kid })).deletedCount === 1;
    },

    async insertSigningKey(key: SigningKeyRow): Promise<void> {
      await rows.signing.insertMany([key], { lean: true });
    },
  };
}

export type CredentialRepository = ReturnType<typeof credentialRepository>;
