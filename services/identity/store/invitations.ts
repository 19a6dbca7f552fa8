/** Invitations in MongoDB: at most one open invitation per organization and email. */
import { newId } from '#libs/contract';
import { type Actor, isDuplicate, type Store, type Transaction, toSessionOptions } from '#libs/store';
import { AlreadyMember, InvitationInvalid } from '../problems.ts';
import { type Membership, toMembershipId } from './accounts.ts';
import {
  type InvitationRow,
  invitations,
  type MemberRow,
  members,
  organizations,
  passwordResets,
  type UserRow,
  users,
} from './collections.ts';
import type { DepartmentRepository } from './departments.ts';

/** The fields of a new invitation. */
export type NewInvitationRow = Pick<
  InvitationRow,
  'email' | 'role' | 'department' | 'invited_by' | 'token_hash' | 'expires_at' | 'created_at'
>;

/** The account that accepts an invitation; with `isNew` its name and password are saved. */
export interface InvitedAccount {
  user: UserRow;
  isNew: boolean;
  /** The account with an unconfirmed email that loses its email to this one. */
  replaces?: UserRow;
}

/** Aborts the transaction: the account has changed since it was read. */
class AccountChanged extends Error {}

/** Creates the repository of invitations. */
export function invitationRepository(store: Store, departments: DepartmentRepository) {
  const rows = {
    invitations: store.rows(invitations),
    users: store.rows(users),
    members: store.rows(members),
    passwordResets: store.rows(passwordResets),
    organizations: store.rows(organizations),
  };

  return {
    /**
     * Saves an invitation and replaces an older one for the same email. Calls `claim` unless the older one is open.
     * Rejects with `AlreadyMember`, `NoSuchDepartment`, or what `claim` throws.
     */
    save(
      actor: Actor,
      invitation: NewInvitationRow,
      claim: () => Promise<void> = async () => undefined,
    ): Promise<InvitationRow> {
      const { organization_id } = actor;
      return store.transact(actor, async (tx) => {
        const { session } = tx;
        if (invitation.department !== null) await departments.lock(actor, invitation.department, tx);
        const accounts = await rows.users.find({ email: invitation.email }, { _id: 1 }, { session }).lean();
        const ids = accounts.map(({ _id }) => toMembershipId(organization_id, _id));
        const isMember =
          ids.length > 0 && (await rows.members.exists({ _id: { $in: ids } }).session(session));
        if (isMember) throw AlreadyMember();
        const older = { organization_id, email: invitation.email };
        const replaced = await rows.invitations.findOneAndDelete(older, { session }).lean();
        if (!replaced || replaced.expires_at <= invitation.created_at) await claim();
        const row = { _id: newId(), organization_id, ...invitation };
        await rows.invitations.insertMany([row], { session, lean: true });
        return row;
      });
    },

    /** Returns the number of open invitations. */
    count: ({ organization_id, tx }: Actor, at: Date): Promise<number> =>
      rows.invitations.countDocuments({ organization_id, expires_at: { $gt: at } }, toSessionOptions(tx)),

    /** A page of open invitations, newest first. */
    async list(
      { organization_id }: Actor,
      { at, before, limit }: { before: string | undefined; limit: number; at: Date },
    ): Promise<InvitationRow[]> {
      const filter = {
        organization_id,
        expires_at: { $gt: at },
        ...(before !== undefined && { _id: { $lt: before } }),
      };
      return rows.invitations.find(filter).sort({ _id: -1 }).limit(limit).lean();
    },

    /** Deletes an invitation. Returns false if it does not exist. */
    async withdraw({ organization_id }: Actor, id: string): Promise<boolean> {
      return (await rows.invitations.deleteOne({ _id: id, organization_id })).deletedCount === 1;
    },

    /**
     * The open invitation with a token, the account with its email, and how many memberships that account
     * has.
     */
    async findOpen(
      tokenHash: string,
      at: Date,
    ): Promise<{ invitation: InvitationRow; user: UserRow | undefined; memberships: number } | undefined> {
      const invitation = await rows.invitations
        .findOne({ token_hash: tokenHash, expires_at: { $gt: at } })
        .lean();
      if (!invitation) return undefined;
      const owner = { email: invitation.email, replaced_by: { $exists: false } };
      const user = (await rows.users.findOne(owner).lean()) ?? undefined;
      return {
        invitation,
        user,
        memberships: user ? await rows.members.countDocuments({ user_id: user._id }) : 0,
      };
    },

    /**
     * Accepts an invitation in one transaction: deletes it, saves the account, creates the membership and
     * calls `onJoined`. Returns its result, or undefined if the account has changed since it was read. Rejects
     * with `InvitationInvalid`.
     */
    async accept<R>(
      invitation: InvitationRow,
      account: InvitedAccount,
      { at, request_id }: { at: Date; request_id: string },
      onJoined: (joined: Membership, tx: Transaction) => Promise<R>,
    ): Promise<R | undefined> {
      const { organization_id } = invitation;
      const actor = { organization_id, user_id: account.user._id, request_id };
      try {
        return await store.transact(actor, async (tx) => {
          const { session } = tx;
          // the department may have been renamed since the invitation was read
          const accepted = await rows.invitations
            .findOneAndDelete({ _id: invitation._id }, { session })
            .lean();
          const organization = await rows.organizations
            .findOne({ _id: organization_id }, null, { session })
            .lean();
          if (!accepted || !organization) throw InvitationInvalid();
          if (account.replaces && !(await replaceAccount(account.replaces, account.user, tx)))
            throw new AccountChanged();
          const user = account.isNew
            ? await saveAccount(account.user, tx)
            : await lockUnchangedAccount(account.user, tx);
          if (!user) throw new AccountChanged();
          const member: MemberRow = {
            _id: toMembershipId(organization_id, user._id),
            organization_id,
            user_id: user._id,
            role: accepted.role,
            department: await findDepartment(accepted, tx),
            session_epoch: user.session_epoch ?? 0,
            // otherwise access tokens from an earlier membership would work again
            ...(!account.isNew && { sessions_ended_at: at }),
            joined_at: at,
          };
          await rows.members.insertMany([member], { session, lean: true });
          return onJoined({ user, member, organization }, tx);
        });
      } catch (error) {
        // another request has created the account or the membership in the meantime
        if (isDuplicate(error) || error instanceof AccountChanged) return undefined;
        throw error;
      }
    },
  };

  /**
   * Saves the name and password of an account that is in no organization, and creates it if needed. Older
   * sessions end. Returns undefined if the account has joined an organization in the meantime.
   */
  async function saveAccount(user: UserRow, { session }: Transaction): Promise<UserRow | undefined> {
    const { _id, name, password, usual_networks = [], email, created_at } = user;
    const update = {
      $set: { name, password, usual_networks },
      $inc: { session_epoch: 1, joined: 1 },
      $setOnInsert: { email, created_at },
    };
    const options = { session, upsert: true, returnDocument: 'after' as const };
    const row = await rows.users.findOneAndUpdate({ _id }, update, options).lean();
    // a reset from before is no longer open: it would replace the password that was just set
    await rows.passwordResets.deleteOne({ _id }, { session });
    const isMember = await rows.members.exists({ user_id: _id }).session(session);
    return isMember ? undefined : (row ?? undefined);
  }

  /**
   * Gives the email of an account to another one. The account keeps everything else. Returns false if its email was
   * confirmed or lost in the meantime.
   */
  async function replaceAccount({ _id }: UserRow, by: UserRow, { session }: Transaction): Promise<boolean> {
    const unconfirmed = { _id, joined: { $exists: false }, replaced_by: { $exists: false } };
    const change = { $set: { replaced_by: by._id } };
    return (await rows.users.updateOne(unconfirmed, change, { session })).matchedCount === 1;
  }

  /** The account with the verified password; undefined if it has lost its email or this password in the meantime. */
  async function lockUnchangedAccount(
    { _id, password }: UserRow,
    { session }: Transaction,
  ): Promise<UserRow | undefined> {
    const options = { session, returnDocument: 'after' as const };
    const unchanged = { _id, password, replaced_by: { $exists: false } };
    return (
      (await rows.users.findOneAndUpdate(unchanged, { $inc: { joined: 1 } }, options).lean()) ?? undefined
    );
  }

  /** The department of the invitation, or null if it was deleted. */
  async function findDepartment(
    { organization_id, department }: InvitationRow,
    tx: Transaction,
  ): Promise<string | null> {
    if (department === null) return null;
    const exists = await departments.lockIfExists({ organization_id, user_id: null }, department, tx);
    return exists ? department : null;
  }
}

export type InvitationRepository = ReturnType<typeof invitationRepository>;
