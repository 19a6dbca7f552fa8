/** Departments in MongoDB. Members and invitations store the department's name, which a rename updates. */
import { newId } from '#libs/contract';
import { type Actor, isDuplicate, type Store, type Transaction, toSessionOptions } from '#libs/store';
import { DepartmentInUse, DepartmentTaken, NoSuchDepartment } from '../problems.ts';
import { type DepartmentRow, departments, invitations, members, organizations } from './collections.ts';

/** How many former names a department keeps, for requests that do not have the current one yet. */
const maxFormerNames = 100;

/** Creates the repository of departments, limited to the organization of the actor. */
export function departmentRepository(store: Store) {
  const rows = {
    departments: store.rows(departments),
    members: store.rows(members),
    invitations: store.rows(invitations),
    organizations: store.rows(organizations),
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
      const session = toSessionOptions(actor.tx);
      await rejectDuplicate(rows.departments.insertMany([row], { ...session, lean: true }));
      return row;
    },

    /**
     * Renames a department, also in its members and invitations, and calls `onRenamed` in the transaction if the name
     * differs. Returns undefined if it does not exist. Rejects with `DepartmentTaken`.
     */
    rename(
      actor: Actor,
      id: string,
      name: string,
      onRenamed: (before: DepartmentRow, tx: Transaction) => void,
    ): Promise<DepartmentRow | undefined> {
      const { organization_id } = actor;
      return store.transact(actor, async (tx) => {
        const { session } = tx;
        const before = await rows.departments.findOne({ _id: id, organization_id }, null, { session }).lean();
        if (!before || before.name === name) return before ?? undefined;
        const until_version = await incrementVersion(actor, tx);
        const former_names = { $each: [{ name: before.name, until_version }], $slice: -maxFormerNames };
        const change = { $set: { name }, $push: { former_names } };
        await rejectDuplicate(rows.departments.updateOne({ _id: id }, change, { session }));
        const named = { organization_id, department: before.name };
        await rows.members.updateMany(named, { department: name }, { session });
        await rows.invitations.updateMany(named, { department: name }, { session });
        onRenamed(before, tx);
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

  /** Increments the version of the organization and returns it. It orders all renames in the organization. */
  async function incrementVersion({ organization_id }: Actor, { session }: Transaction): Promise<number> {
    const options = { session, returnDocument: 'after' as const };
    const organization = await rows.organizations
      .findOneAndUpdate({ _id: organization_id }, { $inc: { row_version: 1 } }, options)
      .lean();
    if (!organization) throw new Error(`The organization ${organization_id} does not exist`);
    return organization.row_version;
  }

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
