/** API keys in MongoDB, stored as hashes. */
import { NotFound } from '#libs/contract';
import { type Actor, type Store, type Transaction, toSessionOptions } from '#libs/store';
import { toMembershipId } from './accounts.ts';
import { type ApiKeyRow, apiKeys, members } from './collections.ts';

/** Called with the ids of the keys of a member that were revoked. */
type OnRevoked = (tx: Transaction, userId: string, keyIds: string[]) => void;

/** Creates the repository of API keys, limited to the organization of the actor. */
export function apiKeyRepository(store: Store) {
  const rows = { keys: store.rows(apiKeys), members: store.rows(members) };

  return {
    /** Returns the number of API keys in the organization, including expired ones. */
    count: ({ organization_id, tx }: Actor): Promise<number> =>
      rows.keys.countDocuments({ organization_id }, toSessionOptions(tx)),

    /** Inserts an API key. Returns false if the key or the membership that creates it no longer exists. */
    insert(actor: Actor, key: ApiKeyRow): Promise<boolean> {
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
    async list(
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
     * Deletes an API key and all keys created with it, directly or indirectly, calls `onRevoked` in the transaction,
     * and returns the key. Throws `NotFound`, or what `authorize` throws for this key.
     */
    revoke(
      actor: Actor,
      keyId: string,
      authorize: (key: ApiKeyRow) => void,
      onRevoked: OnRevoked,
    ): Promise<ApiKeyRow> {
      const { organization_id } = actor;
      return store.transact(actor, async (tx) => {
        const { session } = tx;
        const revokedIds = [keyId];
        const revoked = await rows.keys.findOneAndDelete({ _id: keyId, organization_id }, { session }).lean();
        if (!revoked) throw NotFound();
        authorize(revoked);
        for (let creators = [keyId]; creators.length > 0; ) {
          const created = { organization_id, created_by_key_id: { $in: creators } };
          creators = (await rows.keys.find(created, { _id: 1 }, { session }).lean()).map(({ _id }) => _id);
          await rows.keys.deleteMany({ _id: { $in: creators } }, { session });
          revokedIds.push(...creators);
        }
        onRevoked(tx, revoked.user_id, revokedIds);
        return revoked;
      });
    },

    /**
     * Deletes all API keys of a member, and calls `onRevoked` in the transaction if there are some. Returns their
     * number.
     */
    revokeAll(actor: Actor, userId: string, onRevoked: OnRevoked): Promise<number> {
      const { organization_id } = actor;
      return store.transact(actor, async (tx) => {
        const { session } = tx;
        // the increment makes this transaction conflict with a concurrent creation of a key
        const _id = toMembershipId(organization_id, userId);
        await rows.members.updateOne({ _id, organization_id }, { $inc: { keys_made: 1 } }, { session });
        const own = { organization_id, user_id: userId };
        const keyIds = (await rows.keys.find(own, { _id: 1 }, { session }).lean()).map((key) => key._id);
        await rows.keys.deleteMany({ _id: { $in: keyIds } }, { session });
        if (keyIds.length > 0) onRevoked(tx, userId, keyIds);
        return keyIds.length;
      });
    },

    /** Records when an API key was last used. An older time changes nothing. */
    async recordUse({ organization_id }: Actor, keyId: string, at: Date): Promise<void> {
      await rows.keys.updateOne({ _id: keyId, organization_id }, { $max: { last_used_at: at } });
    },

    /** The expiry of an API key; null without a key or an expiry. */
    async getExpiry(actor: Actor, keyId: string | null): Promise<Date | null> {
      if (keyId === null) return null;
      const key = await rows.keys.findOne({ _id: keyId, organization_id: actor.organization_id }).lean();
      return key?.expires_at ?? null;
    },
  };
}

export type ApiKeyRepository = ReturnType<typeof apiKeyRepository>;
