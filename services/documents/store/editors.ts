/** Checks membership of editors and clears removed editors from documents in MongoDB. */
import type { Actor, Store, Transaction } from '#libs/store';
import { memberStates } from '../../identity/contract.ts';
import { documents } from './collections.ts';

/** Creates the store of editors. */
export function editors(store: Store, now: () => Date) {
  const rows = store.rows(documents);
  const members = store.read(memberStates);

  return {
    /** Returns true if the user is a member of the organization now. Reads outside of any transaction. */
    async isMember({ organization_id }: Actor, user_id: string): Promise<boolean> {
      return (await members.in(organization_id).one({ user_id })) !== undefined;
    },

    /** Removes a user as the editor of all documents of the organization. */
    async clear({ organization_id }: Actor, user_id: string, { session }: Transaction): Promise<void> {
      const filter = { organization_id, editor_id: user_id };
      const update = { $set: { editor_id: null, updated_at: now() }, $inc: { row_version: 1 } };
      await rows.updateMany(filter, update, { session });
    },
  };
}

export type Editors = ReturnType<typeof editors>;
