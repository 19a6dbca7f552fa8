/** Accounts in MongoDB: users, their organizations and memberships. */
import { newId } from '#libs/contract';
import { type Actor, isDuplicate, type Store, type Transaction } from '#libs/store';
import { EmailTaken, SlugTaken } from '../contract.ts';
import { addSlugSuffix } from '../rules/slug.ts';
import { addUsualNetwork } from '../rules/usual-networks.ts';
import type { Role } from '../shapes.ts';
import {
  type MemberRow,
  members,
  type OrganizationRow,
  organizations,
  type UserRow,
  users,
} from './collections.ts';
import { createOrganizationInserter, type NewOrganization } from './organizations.ts';
import { createPasswordReplacer } from './password-update.ts';

/** A user as a member of one organization. */
export interface Membership {
  user: UserRow;
  member: MemberRow;
  organization: OrganizationRow;
}

/** A new organization with its first admin. */
export interface NewAccount {
  organization: NewOrganization;
  /** A requested slug is used unchanged; otherwise a suffix makes the slug unique. */
  isSlugRequested: boolean;
  name: string;
  email: string;
  passwordHash: string;
  /** The address of the client, whose network is usual for the new user. */
  address: string;
}

/** The id of a membership: `<organization id>:<user id>`. */
export function toMembershipId(organizationId: string, userId: string): string {
  return `${organizationId}:${userId}`;
}

/** Creates the repository of accounts. */
export function accountRepository(store: Store) {
  const rows = {
    users: store.rows(users),
    organizations: store.rows(organizations),
    members: store.rows(members),
  };
  const replacePassword = createPasswordReplacer(store);
  const insertOrganization = createOrganizationInserter(store);

  return {
    /**
     * Creates an organization with its first admin. Calls `onCreated` in the transaction, and returns its result.
     * Rejects with `EmailTaken` or `SlugTaken`.
     */
    async create<R>(
      account: NewAccount,
      onCreated: (membership: Membership, tx: Transaction) => Promise<R>,
    ): Promise<R> {
      for (let tries = 0; ; tries += 1) {
        const { slug: text } = account.organization;
        const slug = tries === 0 ? text : addSlugSuffix(text, newId().slice(-4));
        try {
          return await tryCreate(account, slug, onCreated);
        } catch (error) {
          if (!isDuplicate(error)) throw error;
          if (await rows.users.exists({ email: account.email })) throw EmailTaken();
          if (account.isSlugRequested || tries === 5) throw SlugTaken();
        }
      }
    },

    /** The accounts with an email: the one that it belongs to, then one that was replaced, if there is one. */
    async findUsersByEmail(email: string): Promise<UserRow[]> {
      return rows.users.find({ email }).sort({ replaced_by: 1 }).lean();
    },

    async findUser(id: string): Promise<UserRow | undefined> {
      return (await rows.users.findOne({ _id: id }).lean()) ?? undefined;
    },

    /**
     * Replaces the password of `user` and ends all its sessions. Returns false if the password has changed in
     * the meantime.
     */
    setPassword(actor: Actor, { _id, password }: UserRow, newPassword: string): Promise<boolean> {
      return store.transact(actor, (tx) => replacePassword({ _id, password }, newPassword, tx));
    },

    /** Records that the user logged in from an address. */
    async recordNetwork(user: UserRow, address: string, at: Date): Promise<void> {
      const usual_networks = addUsualNetwork(user, address, at);
      if (usual_networks) await rows.users.updateOne({ _id: user._id }, { $set: { usual_networks } });
    },

    /** All memberships of a user. */
    async listMemberships(user: UserRow): Promise<Membership[]> {
      const memberRows = await rows.members.find({ user_id: user._id }).lean();
      const found = await rows.organizations
        .find({ _id: { $in: memberRows.map((row) => row.organization_id) } })
        .lean();
      return memberRows.flatMap((row) => {
        const organization = found.find(({ _id }) => _id === row.organization_id);
        return organization ? [{ user, member: row, organization }] : [];
      });
    },

    /** The first of these users who is a member of the organization with this slug. */
    async findMemberOf(slug: string, users: readonly UserRow[]): Promise<UserRow | undefined> {
      const organization = await rows.organizations.findOne({ slug }, { _id: 1 }).lean();
      if (!organization) return undefined;
      const ids = users.map(({ _id }) => toMembershipId(organization._id, _id));
      const member = await rows.members.findOne({ _id: { $in: ids } }, { user_id: 1 }).lean();
      return users.find(({ _id }) => _id === member?.user_id);
    },

    /** The membership of a user in an organization. */
    async findMembership(organizationId: string, userId: string): Promise<Membership | undefined> {
      const [user, member, organization] = await Promise.all([
        rows.users.findOne({ _id: userId }).lean(),
        rows.members.findOne({ _id: toMembershipId(organizationId, userId) }).lean(),
        rows.organizations.findOne({ _id: organizationId }).lean(),
      ]);
      return user && member && organization ? { user, member, organization } : undefined;
    },
  };

  function tryCreate<R>(
    { organization: fields, email, ...account }: NewAccount,
    slug: string,
    onCreated: (membership: Membership, tx: Transaction) => Promise<R>,
  ): Promise<R> {
    const { at } = fields;
    const _id = newId();
    const organization_id = fields.id;
    const usual_networks = addUsualNetwork({ _id }, account.address, at) ?? [];
    const user: UserRow = {
      ...{ _id, email, name: account.name, password: account.passwordHash },
      usual_networks,
      created_at: at,
    };
    const role: Role = 'admin';
    const member: MemberRow = {
      _id: toMembershipId(organization_id, _id),
      ...{ organization_id, user_id: _id, role, department: null },
      joined_at: at,
    };
    return store.transact({ organization_id, user_id: _id }, async (tx) => {
      const { session } = tx;
      await rows.users.insertMany([user], { session, lean: true });
      const organization = await insertOrganization({ ...fields, slug }, tx);
      await rows.members.insertMany([member], { session, lean: true });
      return onCreated({ user, member, organization }, tx);
    });
  }
}

export type AccountRepository = ReturnType<typeof accountRepository>;
