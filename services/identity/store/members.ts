/** Members of organizations in MongoDB. An organization always keeps at least one admin. */
import type { Actor, Store, Transaction } from '#libs/store';
import { LastAdmin } from '../problems.ts';
import type { Role } from '../shapes.ts';
import { toMembershipId } from './accounts.ts';
import {
  apiKeys,
  type MemberRow,
  members,
  organizations,
  sessions,
  type UserRow,
  users,
} from './collections.ts';
import type { DepartmentRepository } from './departments.ts';

/** A membership with its user. */
export interface MemberWithUser {
  user: UserRow;
  member: MemberRow;
}

/** A change to a membership; a department of null removes the member from their department. */
export interface MemberChange {
  role?: Role | undefined;
  department?: string | null | undefined;
}

/** Creates the repository of members, limited to the organization of the actor. */
export function memberRepository(store: Store, departments: DepartmentRepository) {
  const rows = {
    users: store.rows(users),
    members: store.rows(members),
    organizations: store.rows(organizations),
    keys: store.rows(apiKeys),
    sessions: store.rows(sessions),
  };

  return {
    /** A page of members, oldest account first (user ids are ordered by time). */
    async list(
      { organization_id }: Actor,
      { after, limit }: { after: string | undefined; limit: number },
    ): Promise<MemberWithUser[]> {
      const filter = { organization_id, ...(after !== undefined && { user_id: { $gt: after } }) };
      const found = await rows.members.find(filter).sort({ user_id: 1 }).limit(limit).lean();
      const userRows = await rows.users.find({ _id: { $in: found.map(({ user_id }) => user_id) } }).lean();
      return found.flatMap((member) => {
        const user = userRows.find(({ _id }) => _id === member.user_id);
        return user ? [{ user, member }] : [];
      });
    },

    /**
     * Changes the role or department of a member, and calls `onChanged` in the transaction if one differs. Returns
     * undefined if there is no such member. Rejects with `LastAdmin` or `NoSuchDepartment`.
     */
    update(
      actor: Actor,
      userId: string,
      change: MemberChange,
      onChanged: (before: MemberRow, after: MemberRow, tx: Transaction) => void,
    ): Promise<(MemberWithUser & { before: MemberRow }) | undefined> {
      return store.transact(actor, async (tx) => {
        const found = await find(actor, userId, tx);
        if (!found) return undefined;
        const { role = found.member.role, department = found.member.department } = change;
        if (found.member.role === 'admin' && role !== 'admin') await requireAnotherAdmin(actor, userId, tx);
        if (change.department) await departments.lock(actor, change.department, tx);
        await rows.members.updateOne(
          { _id: found.member._id },
          { role, department },
          { session: tx.session },
        );
        const member = { ...found.member, role, department };
        if (role !== found.member.role || department !== found.member.department)
          onChanged(found.member, member, tx);
        return { user: found.user, member, before: found.member };
      });
    },

    /**
     * Removes a member with their API keys and sessions, and calls `onRemoved` in the transaction. Returns
     * undefined if there is no such member. Rejects with `LastAdmin`.
     */
    remove(
      actor: Actor,
      userId: string,
      onRemoved: (member: MemberWithUser, tx: Transaction) => void,
    ): Promise<MemberWithUser | undefined> {
      return store.transact(actor, async (tx) => {
        const found = await find(actor, userId, tx);
        if (!found) return undefined;
        if (found.member.role === 'admin') await requireAnotherAdmin(actor, userId, tx);
        const { session } = tx;
        await rows.members.deleteOne({ _id: found.member._id }, { session });
        // otherwise old keys and sessions would work again after a new invitation
        const { organization_id } = actor;
        await rows.keys.deleteMany({ organization_id, user_id: userId }, { session });
        await rows.sessions.deleteMany({ organization_id, user_id: userId }, { session });
        onRemoved(found, tx);
        return found;
      });
    },
  };

  async function find(
    { organization_id }: Actor,
    userId: string,
    { session }: Transaction,
  ): Promise<MemberWithUser | undefined> {
    const member = await rows.members
      .findOne({ _id: toMembershipId(organization_id, userId) }, null, { session })
      .lean();
    const user = member && (await rows.users.findOne({ _id: userId }, null, { session }).lean());
    return member && user ? { member, user } : undefined;
  }

  /**
   * Rejects with `LastAdmin` unless the organization has another admin. The update of the organization's row
   * makes concurrent changes conflict; the one that is retried sees the result of the other.
   */
  async function requireAnotherAdmin(
    { organization_id }: Actor,
    userId: string,
    { session }: Transaction,
  ): Promise<void> {
    await rows.organizations.updateOne({ _id: organization_id }, { $inc: { row_version: 1 } }, { session });
    const another = { organization_id, role: 'admin' as const, user_id: { $ne: userId } };
    if (!(await rows.members.exists(another).session(session))) throw LastAdmin();
  }
}

export type MemberRepository = ReturnType<typeof memberRepository>;
