/** Departments in MongoDB; members carry a department's name, which is kept in step within one transaction. */
import { newId } from '#libs/contract';
import { type Actor, isDuplicate, type Store, type Transaction } from '#libs/store';
import { DepartmentInUse, DepartmentTaken, NoSuchDepartment } from '../problems.ts';
import { type DepartmentRow, departments, members } from './collections.ts';

/** Reads and changes the departments of the organization of who asks. */
export function departmentRows(store: Store) {
  const rows = { departments: store.rows(departments), members: store.rows(members) };

  return {
    /** A page of departments by name. */
    async list(
      { organization_id }: Actor,
      { after, limit }: { after: string | undefined; limit: number },
    ): Promise<DepartmentRow[]> {
      const which = { organization_id, ...(after !== undefined && { name: { $gt: after } }) };
      return rows.departments.find(which).sort({ name: 1 }).limit(limit).lean();
    },

    /** Adds a department; `DepartmentTaken`. */
    async add(acting: Actor, name: string, created_at: Date): Promise<DepartmentRow> {
      const row = { _id: newId(), organization_id: acting.organization_id, name, touched: 0, created_at };
      const session = acting.tx ? { session: acting.tx.session } : {};
      await unlessTaken(rows.departments.insertMany([row], { ...session, lean: true }));
      return row;
    },

    /** Renames a department with its members; nothing when there is none. `DepartmentTaken`. */
    rename(acting: Actor, id: string, name: string): Promise<DepartmentRow | undefined> {
      const { organization_id } = acting;
      return store.transact(acting, async ({ session }) => {
        const before = await unlessTaken(
          rows.departments.findOneAndUpdate({ _id: id, organization_id }, { name }, { session }).lean(),
        );
        if (!before) return undefined;
        await rows.members.updateMany(
          { organization_id, department: before.name },
          { department: name },
          { session },
        );
        return { ...before, name };
      });
    },

    /** Deletes a department; false when there is none. `DepartmentInUse`. */
    delete(acting: Actor, id: string): Promise<boolean> {
      const { organization_id } = acting;
      return store.transact(acting, async ({ session }) => {
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

    isHeld,

    /** Makes sure, within a transaction, that a department is there and stays; `NoSuchDepartment`. */
    async hold(acting: Actor, name: string, tx: Transaction): Promise<void> {
      if (!(await isHeld(acting, name, tx))) throw NoSuchDepartment();
    },
  };

  /** Whether a department is there; if so, it stays until the transaction ends. */
  async function isHeld(
    { organization_id }: Actor,
    name: string,
    { session }: Transaction,
  ): Promise<boolean> {
    const held = await rows.departments.updateOne(
      { organization_id, name },
      { $inc: { touched: 1 } },
      { session },
    );
    return held.matchedCount === 1;
  }
}

export type DepartmentRows = ReturnType<typeof departmentRows>;

async function unlessTaken<T>(write: PromiseLike<T>): Promise<T> {
  try {
    return await write;
  } catch (error) {
    if (isDuplicate(error)) throw DepartmentTaken();
    throw error;
  }
}
