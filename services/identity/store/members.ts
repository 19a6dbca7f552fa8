/** Members in MongoDB: who belongs to an organization, and the admin that it never loses. */
import type { Actor, Store, Transaction } from '#libs/store';
import { LastAdmin } from '../problems.ts';
import type { Role } from '../views.ts';
import { membershipId } from './accounts.ts';
import {
  apiKeys,
  type MemberRow,
  members,
  organizations,
  sessions,
  type UserRow,
  users,
} from './collections.ts';
import type { DepartmentRows } from './departments.ts';

/** A member with the person behind it. */
export interface MemberOf {
  user: UserRow;
  member: MemberRow;
}

/** What changes of a member; a department of null takes the member out of any. */
export interface MemberChange {
  role?: Role | undefined;
  department?: string | null | undefined;
}

/** Reads and changes the members of the organization of who asks. */
export function memberRows(store: Store, departments: DepartmentRows) {
  const rows = {
    users: store.rows(users),
    members: store.rows(members),
    organizations: store.rows(organizations),
    keys: store.rows(apiKeys),
    sessions: store.rows(sessions),
  };

  return {
    /** A page of members, the longest-standing first (user ids are ordered by time). */
    async list(
      { organization_id }: Actor,
      { after, limit }: { after: string | undefined; limit: number },
    ): Promise<MemberOf[]> {
      const which = { organization_id, ...(after !== undefined && { user_id: { $gt: after } }) };
      const found = await rows.members.find(which).sort({ user_id: 1 }).limit(limit).lean();
      const people = await rows.users.find({ _id: { $in: found.map(({ user_id }) => user_id) } }).lean();
      return found.flatMap((member) => {
        const user = people.find(({ _id }) => _id === member.user_id);
        return user ? [{ user, member }] : [];
      });
    },

    /** Gives a member a role or a department; nothing when there is none. The last admin stays admin: `LastAdmin`, `NoSuchDepartment`. */
    change(
      acting: Actor,
      userId: string,
      to: MemberChange,
    ): Promise<(MemberOf & { before: MemberRow }) | undefined> {
      return store.transact(acting, async (tx) => {
        const found = await find(acting, userId, tx);
        if (!found) return undefined;
        const { role = found.member.role, department = found.member.department } = to;
        if (found.member.role === 'admin' && role !== 'admin') await keepAnAdmin(acting, userId, tx);
        if (to.department) await departments.hold(acting, to.department, tx);
        await rows.members.updateOne(
          { _id: found.member._id },
          { role, department },
          { session: tx.session },
        );
        return { user: found.user, member: { ...found.member, role, department }, before: found.member };
      });
    },

    /** Removes a member and tells `removed` within the transaction; nothing when there is none. `LastAdmin`. */
    remove(
      acting: Actor,
      userId: string,
      removed: (member: MemberOf, tx: Transaction) => void,
    ): Promise<MemberOf | undefined> {
      return store.transact(acting, async (tx) => {
        const found = await find(acting, userId, tx);
        if (!found) return undefined;
        if (found.member.role === 'admin') await keepAnAdmin(acting, userId, tx);
        const { session } = tx;
        await rows.members.deleteOne({ _id: found.member._id }, { session });
        // whoever is invited again must not find old keys and sessions working
        const { organization_id } = acting;
        await rows.keys.deleteMany({ organization_id, user_id: userId }, { session });
        await rows.sessions.deleteMany({ organization_id, user_id: userId }, { session });
        removed(found, tx);
        return found;
      });
    },
  };

  async function find(
    { organization_id }: Actor,
    userId: string,
    { session }: Transaction,
  ): Promise<MemberOf | undefined> {
    const member = await rows.members
      .findOne({ _id: membershipId(organization_id, userId) }, null, { session })
      .lean();
    const user = member && (await rows.users.findOne({ _id: userId }, null, { session }).lean());
    return member && user ? { member, user } : undefined;
  }

  /** Every such change touches the organization's row, so that two of them at once collide and one sees the other. */
  async function keepAnAdmin(
    { organization_id }: Actor,
    userId: string,
    { session }: Transaction,
  ): Promise<void> {
    await rows.organizations.updateOne({ _id: organization_id }, { $inc: { row_version: 1 } }, { session });
    const another = { organization_id, role: 'admin' as const, user_id: { $ne: userId } };
    if (!(await rows.members.exists(another).session(session))) throw LastAdmin();
  }
}

export type MemberRows = ReturnType<typeof memberRows>;
