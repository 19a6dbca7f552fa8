/** Open password resets in MongoDB: at most one per user. */
import { type Actor, type Store, toSessionOptions } from '#libs/store';
import { members, type PasswordResetRow, passwordResets, type UserRow, users } from './collections.ts';
import { createPasswordReplacer } from './password-update.ts';

/** Creates the repository of password resets. */
export function passwordResetRepository(store: Store) {
  const rows = {
    resets: store.rows(passwordResets),
    users: store.rows(users),
    members: store.rows(members),
  };
  const replacePassword = createPasswordReplacer(store);

  return {
    /** Saves a reset and replaces an older one of the same user. */
    async save({ _id, ...reset }: PasswordResetRow, { tx }: Actor): Promise<void> {
      const options = { upsert: true, ...toSessionOptions(tx) };
      await rows.resets.updateOne({ _id }, { $set: reset }, options);
    },

    /** The open reset with a token, and its user. */
    async findOpen(
      tokenHash: string,
      at: Date,
    ): Promise<{ reset: PasswordResetRow; user: UserRow } | undefined> {
      const reset = await rows.resets.findOne({ token_hash: tokenHash, expires_at: { $gt: at } }).lean();
      const user = reset && (await rows.users.findOne({ _id: reset._id }).lean());
      return reset && user ? { reset, user } : undefined;
    },

    /**
     * Sets the new password and ends all sessions of the user. Returns false if the reset was used in the
     * meantime, or if the admin who created it may no longer reset this password.
     */
    complete({ _id, token_hash, organization_id }: PasswordResetRow, password: string): Promise<boolean> {
      const actor = { organization_id: organization_id ?? 'operator', user_id: _id };
      return store.transact(actor, async (tx) => {
        const { session } = tx;
        const open = await rows.resets.exists({ _id, token_hash }).session(session);
        if (!open) return false;
        // checked again: a reset by an admin requires that the user is in that organization and in no other
        const memberships = await rows.members
          .find({ user_id: _id }, { organization_id: 1 }, { session })
          .lean();
        const isOnlyMembership =
          memberships.length === 1 && memberships[0]?.organization_id === organization_id;
        return (organization_id === null || isOnlyMembership) && replacePassword({ _id }, password, tx);
      });
    },
  };
}

export type PasswordResetRepository = ReturnType<typeof passwordResetRepository>;
