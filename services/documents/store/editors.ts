/** Editors in MongoDB: who may be one, and documents whose editor is gone. */
import type { Actor, Store, Transaction } from '#libs/store';
import { memberStates } from '../../identity/contract.ts';
import { documents } from './collections.ts';

/** Looks after the editors of documents. */
export function editors(store: Store, now: () => Date) {
  const rows = store.rows(documents);
  const members = store.read(memberStates);

  return {
    /** Whether a user is a member of the organization at this moment, whatever a transaction has seen. */
    async isMember({ organization_id }: Actor, user_id: string): Promise<boolean> {
      return (await members.in(organization_id).one({ user_id })) !== undefined;
    },

    /** Takes a user off all documents of the organization that they are the editor of. */
    async clear({ organization_id }: Actor, user_id: string, { session }: Transaction): Promise<void> {
      const theirs = { organization_id, editor_id: user_id };
      const cleared = { $set: { editor_id: null, updated_at: now() }, $inc: { row_version: 1 } };
      await rows.updateMany(theirs, cleared, { session });
    },
  };
}

export type Editors = ReturnType<typeof editors>;
