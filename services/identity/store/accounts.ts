/** Accounts in MongoDB: people, their organizations and memberships. */
import { newId } from '#libs/contract';
import { type Actor, isDuplicate, type Store } from '#libs/store';
import { EmailTaken, SlugTaken } from '../contract.ts';
import { slugWithSuffix } from '../rules/slug.ts';
import type { Role } from '../views.ts';
import {
  type MemberRow,
  members,
  type OrganizationRow,
  organizations,
  subscriptions,
  type UserRow,
  users,
} from './collections.ts';
import { replacePassword } from './password-update.ts';

/** A person as a member of one organization. */
export interface Membership {
  user: UserRow;
  member: MemberRow;
  organization: OrganizationRow;
}

/** What a new organization starts with. */
export interface NewAccount {
  organizationName: string;
  /** Taken as it is when asked for; else made unique. */
  slug: { text: string; asked: boolean };
  name: string;
  email: string;
  passwordHash: string;
  plan: string;
  publishLimit: number | null;
  renews: 'monthly' | 'never';
  at: Date;
}

/** The id of a membership. */
export function membershipId(organizationId: string, userId: string): string {
  return `${organizationId}:${userId}`;
}

/** Reads and writes accounts. */
export function accounts(store: Store) {
  const rows = {
    users: store.rows(users),
    organizations: store.rows(organizations),
    members: store.rows(members),
    subscriptions: store.rows(subscriptions),
  };
  const put = replacePassword(store);

  return {
    /** Makes an organization with its first admin; `EmailTaken`, `SlugTaken`. */
    async create(account: NewAccount): Promise<Membership> {
      for (let tries = 0; ; tries += 1) {
        const slug = tries === 0 ? account.slug.text : slugWithSuffix(account.slug.text, newId().slice(-4));
        try {
          return await createOnce(account, slug);
        } catch (error) {
          if (!isDuplicate(error)) throw error;
          if (await rows.users.exists({ email: account.email })) throw EmailTaken();
          if (account.slug.asked || tries === 5) throw SlugTaken();
        }
      }
    },

    async userByEmail(email: string): Promise<UserRow | undefined> {
      return (await rows.users.findOne({ email }).lean()) ?? undefined;
    },

    async user(id: string): Promise<UserRow | undefined> {
      return (await rows.users.findOne({ _id: id }).lean()) ?? undefined;
    },

    /** Puts a new password in place of the one that the person had, and ends all sessions; false when it is another one by now. */
    setPassword(acting: Actor, { _id, password }: UserRow, to: string): Promise<boolean> {
      return store.transact(acting, (tx) => put({ _id, password }, to, tx));
    },

    /** All memberships of a person. */
    async membershipsOf(user: UserRow): Promise<Membership[]> {
      const own = await rows.members.find({ user_id: user._id }).lean();
      const named = await rows.organizations
        .find({ _id: { $in: own.map((row) => row.organization_id) } })
        .lean();
      return own.flatMap((row) => {
        const organization = named.find(({ _id }) => _id === row.organization_id);
        return organization ? [{ user, member: row, organization }] : [];
      });
    },

    /** One person's membership in one organization. */
    async membership(organizationId: string, userId: string): Promise<Membership | undefined> {
      const [user, member, organization] = await Promise.all([
        rows.users.findOne({ _id: userId }).lean(),
        rows.members.findOne({ _id: membershipId(organizationId, userId) }).lean(),
        rows.organizations.findOne({ _id: organizationId }).lean(),
      ]);
      return user && member && organization ? { user, member, organization } : undefined;
    },
  };

  function createOnce(account: NewAccount, slug: string): Promise<Membership> {
    const { at: created_at } = account;
    const user: UserRow = {
      _id: newId(),
      email: account.email,
      name: account.name,
      password: account.passwordHash,
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
      _id: membershipId(organization._id, user._id),
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

export type Accounts = ReturnType<typeof accounts>;
