/** Departments in MongoDB. Members and invitations store the department's name, which a rename updates. */
import { newId } from '#libs/contract';
import { type Actor, isDuplicate, type Store, type Transaction } from '#libs/store';
import { DepartmentInUse, DepartmentTaken, NoSuchDepartment } from '../problems.ts';
import { type DepartmentRow, departments, invitations, members } from './collections.ts';

/** Creates the repository of departments, limited to the organization of the actor. */
export function departmentRepository(store: Store) {
  const rows = {
    departments: store.rows(departments),
    members: store.rows(members),
    invitations: store.rows(invitations),
  };

  return {
    /** A page of departments, sorted by name. */
    async list(
      { organization_id }: Actor,
      { after, limit }: { after: string | undefined; limit: number },
    ): Promise<DepartmentRow[]> {
      const filter = { organization_id, ...(after !== undefined && { name: { $gt: after } }) };
      return rows.departments.find(filter).sort({ name: 1 }).limit(limit).lean();
    },

    /** Adds a department. Rejects with `DepartmentTaken`. */
    async add(actor: Actor, name: string, created_at: Date): Promise<DepartmentRow> {
      const row = { _id: newId(), organization_id: actor.organization_id, name, touched: 0, created_at };
      const session = actor.tx ? { session: actor.tx.session } : {};
      await rejectDuplicate(rows.departments.insertMany([row], { ...session, lean: true }));
      return row;
    },

    /**
     * Renames a department, also in its members and invitations. Returns undefined if it does not exist. Rejects with
     * `DepartmentTaken`.
     */
    rename(actor: Actor, id: string, name: string): Promise<DepartmentRow | undefined> {
      const { organization_id } = actor;
      return store.transact(actor, async ({ session }) => {
        const before = await rejectDuplicate(
          rows.departments.findOneAndUpdate({ _id: id, organization_id }, { name }, { session }).lean(),
        );
        if (!before) return undefined;
        const named = { organization_id, department: before.name };
        await rows.members.updateMany(named, { department: name }, { session });
        await rows.invitations.updateMany(named, { department: name }, { session });
        return { ...before, name };
      });
    },

    /** Deletes a department. Returns false if it does not exist. Rejects with `DepartmentInUse`. */
    delete(actor: Actor, id: string): Promise<boolean> {
      const { organization_id } = actor;
      return store.transact(actor, async ({ session }) => {
        const deleted = await rows.departments
          .findOneAndDelete({ _id: id, organization_id }, { session })
          .lean();
        if (!deleted) return false;
        const inUse = await rows.members
          .exists({ organization_id, department: deleted.name })
          .session(session);
        if (inUse) throw DepartmentInUse();
        return true;
      });
    },

    lockIfExists,

    /** Prevents the deletion of a department until the transaction ends. Rejects with `NoSuchDepartment`. */
    async lock(actor: Actor, name: string, tx: Transaction): Promise<void> {
      if (!(await lockIfExists(actor, name, tx))) throw NoSuchDepartment();
    },
  };

  /** Whether a department exists. If so, it cannot be deleted until the transaction ends. */
  async function lockIfExists(
    { organization_id }: Actor,
    name: string,
    { session }: Transaction,
  ): Promise<boolean> {
    const updated = await rows.departments.updateOne(
      { organization_id, name },
      { $inc: { touched: 1 } },
      { session },
    );
    return updated.matchedCount === 1;
  }
}

export type DepartmentRepository = ReturnType<typeof departmentRepository>;

async function rejectDuplicate<T>(write: PromiseLike<T>): Promise<T> {
  try {
    return await write;
  } catch (error) {
    if (isDuplicate(error)) throw DepartmentTaken();
    throw error;
  }
}
