/** Open resets of passwords in MongoDB: one for each person. */
import type { Actor, Store } from '#libs/store';
import { members, type PasswordResetRow, passwordResets, type UserRow, users } from './collections.ts';
import { replacePassword } from './password-update.ts';

/** Keeps resets and uses them up. */
export function passwordResetRows(store: Store) {
  const rows = {
    resets: store.rows(passwordResets),
    users: store.rows(users),
    members: store.rows(members),
  };
  const put = replacePassword(store);

  return {
    /** Keeps a reset in place of an older one for the same person. */
    async keep({ _id, ...reset }: PasswordResetRow, { tx }: Actor): Promise<void> {
      const options = { upsert: true, ...(tx && { session: tx.session }) };
      await rows.resets.updateOne({ _id }, { $set: reset }, options);
    },

    /** The open reset that a token stands for, with its person. */
    async open(tokenHash: string, at: Date): Promise<{ reset: PasswordResetRow; user: UserRow } | undefined> {
      const reset = await rows.resets.findOne({ token_hash: tokenHash, expires_at: { $gt: at } }).lean();
      const user = reset && (await rows.users.findOne({ _id: reset._id }).lean());
      return reset && user ? { reset, user } : undefined;
    },

    /** Sets the new password and ends all sessions; false when the reset was used meanwhile, or is not its maker's to give any more. */
    use({ _id, token_hash, organization_id }: PasswordResetRow, password: string): Promise<boolean> {
      const acting = { organization_id: organization_id ?? 'operator', user_id: _id };
      return store.transact(acting, async (tx) => {
        const { session } = tx;
        const open = await rows.resets.exists({ _id, token_hash }).session(session);
        if (!open) return false;
        // an admin's reset is for a person who is in that organization and no other, also by now
        const own = await rows.members.find({ user_id: _id }, { organization_id: 1 }, { session }).lean();
        const isTheirs = own.length === 1 && own[0]?.organization_id === organization_id;
        return (organization_id === null || isTheirs) && put({ _id }, password, tx);
      });
    },
  };
}

export type PasswordResets = ReturnType<typeof passwordResetRows>;
