/** Checks membership of editors and reviewers, and clears removed members from documents in MongoDB. */
import type { Actor, Store, Transaction } from '#libs/store';
import { memberStates } from '../../identity/contract.ts';
import { documents } from './collections.ts';

/** The fields of a document that name a member who has a task. */
const assigneeFields = ['editor_id', 'reviewer_id'] as const;

/** Creates the store of editors and reviewers. */
export function assignees(store: Store, now: () => Date) {
  const rows = store.rows(documents);
  const members = store.read(memberStates);

  const stored = {
    /** Returns true if the user is a member of the organization now. Reads outside of any transaction. */
    async isMember({ organization_id }: Actor, user_id: string): Promise<boolean> {
      return (await members.in(organization_id).one({ user_id })) !== undefined;
    },

    /** Removes a user as the editor and the reviewer of all documents of the organization. */
    async clear({ organization_id }: Actor, user_id: string, { session }: Transaction): Promise<void> {
      for (const field of assigneeFields) {
        const update = { $set: { [field]: null, updated_at: now() }, $inc: { row_version: 1 } };
        await rows.updateMany({ organization_id, [field]: user_id }, update, { session });
      }
    },

    /** Clears a user from all documents and returns true, unless the user is a member. */
    async clearUnlessMember(actor: Actor, userId: string): Promise<boolean> {
      if (await stored.isMember(actor, userId)) return false;
      await store.transact(actor, (tx) => stored.clear(actor, userId, tx));
      return true;
    },
  };
  return stored;
}

export type Assignees = ReturnType<typeof assignees>;
