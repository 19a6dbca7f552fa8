/** A new password in MongoDB: it ends whatever the old one had opened, in the same transaction. */
import type { Store, Transaction } from '#libs/store';
import { members, passwordResets, sessions, users } from './collections.ts';

/** Whose password: a person, as long as the hash is this one if one is named. */
export interface Whose {
  _id: string;
  password?: string;
}

/** Makes the function that puts a hash in a password's place; it gives false when there is no such person. */
export function replacePassword(store: Store) {
  const rows = {
    users: store.rows(users),
    members: store.rows(members),
    sessions: store.rows(sessions),
    resets: store.rows(passwordResets),
  };

  return async (whose: Whose, password: string, { session }: Transaction): Promise<boolean> => {
    const to = { $set: { password }, $inc: { session_epoch: 1 } };
    const options = { session, returnDocument: 'after' as const };
    const user = await rows.users.findOneAndUpdate(whose, to, options).lean();
    if (!user) return false;
    const { _id: user_id, session_epoch = 0 } = user;
    await rows.members.updateMany({ user_id }, { $set: { session_epoch } }, { session });
    await rows.sessions.deleteMany({ user_id }, { session });
    await rows.resets.deleteOne({ _id: user_id }, { session });
    return true;
  };
}
