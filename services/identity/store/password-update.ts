/** Replaces a password in MongoDB, and ends the user's sessions and open reset in the same transaction. */
import type { Store, Transaction } from '#libs/store';
import { members, passwordResets, sessions, users } from './collections.ts';

/** Selects a user by id and, if given, by the current password hash. */
export interface UserSelector {
  _id: string;
  password?: string;
}

/** Creates the function that replaces a password hash. It returns false if no user matches. */
export function createPasswordReplacer(store: Store) {
  const rows = {
    users: store.rows(users),
    members: store.rows(members),
    sessions: store.rows(sessions),
    resets: store.rows(passwordResets),
  };

  return async (selector: UserSelector, password: string, { session }: Transaction): Promise<boolean> => {
    const update = { $set: { password }, $inc: { session_epoch: 1 } };
    const options = { session, returnDocument: 'after' as const };
    const user = await rows.users.findOneAndUpdate(selector, update, options).lean();
    if (!user) return false;
    const { _id: user_id, session_epoch = 0 } = user;
    await rows.members.updateMany({ user_id }, { $set: { session_epoch } }, { session });
    await rows.sessions.deleteMany({ user_id }, { session });
    await rows.resets.deleteOne({ _id: user_id }, { session });
    return true;
  };
}
