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

    /**
     * Clears a user who was removed at this time from all documents of the organization. If the user is a member
     * again, this leaves the families of documents that have changed since: their assignments may be newer.
     */
    async clearRemoved(actor: Actor, userId: string, removedAt: Date, tx: Transaction): Promise<void> {
      const isMember = await stored.isMember(actor, userId);
      await clear(actor, userId, tx, isMember ? await findChanged(actor, userId, removedAt, tx) : []);
    },

    /** Clears a user from all documents and returns true, unless the user is a member. */
    async clearUnlessMember(actor: Actor, userId: string): Promise<boolean> {
      if (await stored.isMember(actor, userId)) return false;
      await store.transact(actor, (tx) => clear(actor, userId, tx));
      return true;
    },
  };
  return stored;

  /** Removes a user as the editor and the reviewer of all documents, except those of some families. */
  async function clear(
    { organization_id }: Actor,
    userId: string,
    { session }: Transaction,
    exceptFamilies: readonly string[] = [],
  ): Promise<void> {
    const others = exceptFamilies.length > 0 ? { family_id: { $nin: [...exceptFamilies] } } : {};
    for (const field of assigneeFields) {
      const update = { $set: { [field]: null, updated_at: now() }, $inc: { row_version: 1 } };
      await rows.updateMany({ organization_id, [field]: userId, ...others }, update, { session });
    }
  }

  /** The families of the documents of an assigned user that have changed since a time. */
  async function findChanged(
    { organization_id }: Actor,
    userId: string,
    since: Date,
    { session }: Transaction,
  ): Promise<string[]> {
    const assigned = assigneeFields.map((field) => ({ [field]: userId }));
    const filter = { organization_id, $or: assigned, updated_at: { $gte: since } };
    const changed = await rows.find(filter, { family_id: 1 }, { session }).lean();
    return changed.map(({ family_id }) => family_id);
  }
}

export type Assignees = ReturnType<typeof assignees>;
