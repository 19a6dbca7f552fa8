/** Signing keys in MongoDB. Their private parts are stored encrypted. */
import type { Store } from '#libs/store';
import { type SigningKeyRow, signingKeys } from './collections.ts';

/** Creates the repository of signing keys. */
export function signingKeyRepository(store: Store) {
  const rows = store.rows(signingKeys);

  return {
    /** The signing keys, newest first. An old row without `signs_from` signs from its creation. */
    async list(): Promise<SigningKeyRow[]> {
      const keys = await rows.find({}).sort({ created_at: -1, _id: -1 }).lean();
      return keys.map((key) => ({ ...key, signs_from: key.signs_from ?? key.created_at }));
    },

    /** Deletes a signing key. Returns false if another replica has already deleted it. */
    async delete(kid: string): Promise<boolean> {
      return (await rows.deleteOne({ _id: kid })).deletedCount === 1;
    },

    async insert(key: SigningKeyRow): Promise<void> {
      await rows.insertMany([key], { lean: true });
    },
  };
}

export type SigningKeyRepository = ReturnType<typeof signingKeyRepository>;
