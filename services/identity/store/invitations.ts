/** Invitations in MongoDB: one open invitation for each email of an organization. */
import { newId } from '#libs/contract';
import { type Actor, isDuplicate, type Store, type Transaction } from '#libs/store';
import { AlreadyMember, InvitationInvalid } from '../problems.ts';
import { membershipId } from './accounts.ts';
import {
  type InvitationRow,
  invitations,
  type MemberRow,
  members,
  organizations,
  type UserRow,
  users,
} from './collections.ts';
import type { DepartmentRows } from './departments.ts';

/** What an invitation starts with. */
export type NewInvitationRow = Pick<
  InvitationRow,
  'email' | 'role' | 'department' | 'invited_by' | 'token_hash' | 'expires_at' | 'created_at'
>;

/** Who accepts: `isNew` when name and password are to be kept. */
export interface Person {
  user: UserRow;
  isNew: boolean;
}

/** What became of an accepted invitation. */
export interface Joined {
  user: UserRow;
  member: MemberRow;
}

/** Takes back what a transaction did: the person is not the one any more that was looked at before. */
class PersonChanged extends Error {}

/** Reads and changes invitations. */
export function invitationRows(store: Store, departments: DepartmentRows) {
  const rows = {
    invitations: store.rows(invitations),
    users: store.rows(users),
    members: store.rows(members),
    organizations: store.rows(organizations),
  };

  return {
    /** Keeps an invitation in place of an older one for the same person, in one transaction; `AlreadyMember`. */
    invite(acting: Actor, newInvitationRow: NewInvitationRow): Promise<InvitationRow> {
      const { organization_id } = acting;
      return store.transact(acting, async (tx) => {
        const { session } = tx;
        if (newInvitationRow.department !== null)
          await departments.hold(acting, newInvitationRow.department, tx);
        const user = await rows.users
          .findOne({ email: newInvitationRow.email }, { _id: 1 }, { session })
          .lean();
        const member =
          user &&
          (await rows.members.exists({ _id: membershipId(organization_id, user._id) }).session(session));
        if (member) throw AlreadyMember();
        await rows.invitations.deleteOne({ organization_id, email: newInvitationRow.email }, { session });
        const row = { _id: newId(), organization_id, ...newInvitationRow };
        await rows.invitations.insertMany([row], { session, lean: true });
        return row;
      });
    },

    /** A page of open invitations, the newest first. */
    async list(
      { organization_id }: Actor,
      { at, before, limit }: { before: string | undefined; limit: number; at: Date },
    ): Promise<InvitationRow[]> {
      const which = {
        organization_id,
        expires_at: { $gt: at },
        ...(before !== undefined && { _id: { $lt: before } }),
      };
      return rows.invitations.find(which).sort({ _id: -1 }).limit(limit).lean();
    },

    /** Withdraws an invitation; false when there is none. */
    async withdraw({ organization_id }: Actor, id: string): Promise<boolean> {
      return (await rows.invitations.deleteOne({ _id: id, organization_id })).deletedCount === 1;
    },

    /** The open invitation that a token stands for, with the account under its email and how many memberships that has. */
    async open(
      tokenHash: string,
      at: Date,
    ): Promise<{ invitation: InvitationRow; user: UserRow | undefined; memberships: number } | undefined> {
      const invitation = await rows.invitations
        .findOne({ token_hash: tokenHash, expires_at: { $gt: at } })
        .lean();
      if (!invitation) return undefined;
      const user = (await rows.users.findOne({ email: invitation.email }).lean()) ?? undefined;
      return {
        invitation,
        user,
        memberships: user ? await rows.members.countDocuments({ user_id: user._id }) : 0,
      };
    },

    /**
     * Uses an invitation up: keeps the person (with name and password when they are new), makes the member and tells
     * `joined`; nothing when the person has become another one meanwhile. `InvitationInvalid`.
     */
    async accept(
      invitation: InvitationRow,
      person: Person,
      at: Date,
      joined: (joined: Joined, tx: Transaction) => void,
    ): Promise<Joined | undefined> {
      const { organization_id } = invitation;
      const acting = { organization_id, user_id: person.user._id };
      try {
        return await store.transact(acting, async (tx) => {
          const { session } = tx;
          const { deletedCount } = await rows.invitations.deleteOne({ _id: invitation._id }, { session });
          if (deletedCount === 0) throw InvitationInvalid();
          const user = person.isNew ? await renewed(person.user, tx) : await proven(person.user, tx);
          if (!user) throw new PersonChanged();
          const member: MemberRow = {
            _id: membershipId(organization_id, user._id),
            organization_id,
            user_id: user._id,
            role: invitation.role,
            department: await departmentNow(invitation, tx),
            session_epoch: user.session_epoch ?? 0,
            joined_at: at,
          };
          await rows.members.insertMany([member], { session, lean: true });
          joined({ user, member }, tx);
          return { user, member };
        });
      } catch (error) {
        // somebody else made an account or the membership at this very moment
        if (isDuplicate(error) || error instanceof PersonChanged) return undefined;
        throw error;
      }
    },
  };

  /** The account of somebody who is in no organization, new or not, with the name and the password given now; older sessions end. */
  async function renewed(user: UserRow, { session }: Transaction): Promise<UserRow | undefined> {
    const { _id, name, password, email, created_at } = user;
    const kept = {
      $set: { name, password },
      $inc: { session_epoch: 1, joined: 1 },
      $setOnInsert: { email, created_at },
    };
    const options = { session, upsert: true, returnDocument: 'after' as const };
    const row = await rows.users.findOneAndUpdate({ _id }, kept, options).lean();
    const isMember = await rows.members.exists({ user_id: _id }).session(session);
    return isMember ? undefined : (row ?? undefined);
  }

  /** The account of somebody who gave its password, unless that is another one by now. */
  async function proven({ _id, password }: UserRow, { session }: Transaction): Promise<UserRow | undefined> {
    const options = { session, returnDocument: 'after' as const };
    return (
      (await rows.users.findOneAndUpdate({ _id, password }, { $inc: { joined: 1 } }, options).lean()) ??
      undefined
    );
  }

  /** The invitation's department, if it is still there. */
  async function departmentNow(
    { organization_id, department }: InvitationRow,
    tx: Transaction,
  ): Promise<string | null> {
    if (department === null) return null;
    const isThere = await departments.isHeld({ organization_id, user_id: null }, department, tx);
    return isThere ? department : null;
  }
}

export type InvitationRows = ReturnType<typeof invitationRows>;
