/** Accounts in MongoDB: users, their organizations and memberships. */
import { newId } from '#libs/contract';
import { type Actor, isDuplicate, type Store } from '#libs/store';
import { EmailTaken, SlugTaken } from '../contract.ts';
import { addSlugSuffix } from '../rules/slug.ts';
import { addUsualNetwork } from '../rules/usual-networks.ts';
import type { Role } from '../shapes.ts';
import {
  type MemberRow,
  members,
  type OrganizationRow,
  organizations,
  subscriptions,
  type UserRow,
  users,
} from './collections.ts';
import { createPasswordReplacer } from './password-update.ts';

/** A user as a member of one organization. */
export interface Membership {
  user: UserRow;
  member: MemberRow;
  organization: OrganizationRow;
}

/** A new organization with its first admin. */
export interface NewAccount {
  organizationName: string;
  /** A requested slug is used unchanged; otherwise a suffix makes the slug unique. */
  slug: { text: string; isRequested: boolean };
  name: string;
  email: string;
  passwordHash: string;
  plan: string;
  publishLimit: number | null;
  renews: 'monthly' | 'never';
  /** The address of the client, whose network is usual for the new user. */
  address: string;
  at: Date;
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
    subscriptions: store.rows(subscriptions),
  };
  const replacePassword = createPasswordReplacer(store);

  return {
    /** Creates an organization with its first admin. Rejects with `EmailTaken` or `SlugTaken`. */
    async create(account: NewAccount): Promise<Membership> {
      for (let tries = 0; ; tries += 1) {
        const slug = tries === 0 ? account.slug.text : addSlugSuffix(account.slug.text, newId().slice(-4));
        try {
          return await tryCreate(account, slug);
        } catch (error) {
          if (!isDuplicate(error)) throw error;
          if (await rows.users.exists({ email: account.email })) throw EmailTaken();
          if (account.slug.isRequested || tries === 5) throw SlugTaken();
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

  function tryCreate(account: NewAccount, slug: string): Promise<Membership> {
    const { at: created_at } = account;
    const _id = newId();
    const user: UserRow = {
      _id,
      email: account.email,
      name: account.name,
      password: account.passwordHash,
      usual_networks: addUsualNetwork({ _id }, account.address, created_at) ?? [],
      created_at,
    };
    const organization: OrganizationRow = {
      _id: newId(),
      name: account.organizationName,
      slug,
      row_version: 1,
      created_at,
    };
    const role: Role = 'admin';
    const member: MemberRow = {
      _id: toMembershipId(organization._id, user._id),
      organization_id: organization._id,
      user_id: user._id,
      role,
      department: null,
      joined_at: created_at,
    };
    const terms = {
      _id: organization._id,
      plan: account.plan,
      publish_limit: account.publishLimit,
      renews: account.renews,
      terms_version: 1,
    };
    return store.transact({ organization_id: organization._id, user_id: user._id }, async ({ session }) => {
      await rows.users.insertMany([user], { session, lean: true });
      await rows.organizations.insertMany([organization], { session, lean: true });
      await rows.members.insertMany([member], { session, lean: true });
      await rows.subscriptions.insertMany([terms], { session, lean: true });
      return { user, member, organization };
    });
  }
}

export type AccountRepository = ReturnType<typeof accountRepository>;
