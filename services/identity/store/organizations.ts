/** Organizations in MongoDB. */
import { type Actor, isDuplicate, type Store, type Transaction } from '#libs/store';
import { SlugTaken } from '../problems.ts';
import type { StorageLimits } from '../rules/storage-limits.ts';
import type { Settings } from '../shapes.ts';
import { type OrganizationRow, organizations, subscriptions } from './collections.ts';

/** A new organization with the terms of its plan. */
export interface NewOrganization {
  id: string;
  name: string;
  slug: string;
  plan: string;
  publishLimit: number | null;
  renews: 'monthly' | 'never';
  storageLimits: StorageLimits;
  at: Date;
}

/** Creates the function that inserts an organization and its subscription in a transaction. */
export function createOrganizationInserter(store: Store) {
  const rows = { organizations: store.rows(organizations), subscriptions: store.rows(subscriptions) };
  return async (organization: NewOrganization, { session }: Transaction): Promise<OrganizationRow> => {
    const { id, name, slug, plan, publishLimit, renews, storageLimits, at } = organization;
    const row: OrganizationRow = { _id: id, name, slug, row_version: 1, created_at: at };
    const limits = { publish_limit: publishLimit, storage_limits: storageLimits };
    const terms = { _id: id, plan, ...limits, renews, terms_version: 1 };
    await rows.organizations.insertMany([row], { session, lean: true });
    await rows.subscriptions.insertMany([terms], { session, lean: true });
    return row;
  };
}

/** A change to an organization; absent fields keep their values. */
export interface OrganizationChange {
  name?: string | undefined;
  slug?: string | undefined;
  settings?: { [Key in keyof Settings]?: Settings[Key] | undefined } | undefined;
}

/** Creates the repository of organizations, limited to the organization of the actor. */
export function organizationRepository(store: Store) {
  const rows = store.rows(organizations);
  const insert = createOrganizationInserter(store);

  return {
    /** Creates an organization without members. Rejects with `SlugTaken`. */
    async create(actor: Actor, organization: NewOrganization): Promise<OrganizationRow> {
      try {
        return await store.transact(actor, (tx) => insert(organization, tx));
      } catch (error) {
        if (isDuplicate(error)) throw SlugTaken();
        throw error;
      }
    },

    async get({ organization_id }: Actor): Promise<OrganizationRow | undefined> {
      return (await rows.findOne({ _id: organization_id }).lean()) ?? undefined;
    },

    /**
     * Changes the given fields and merges settings by key. Calls `onChanged` in the transaction. Rejects with
     * `SlugTaken`.
     */
    async update(
      actor: Actor,
      { name, slug, settings }: OrganizationChange,
      onChanged: (before: OrganizationRow, after: OrganizationRow, tx: Transaction) => void,
    ): Promise<OrganizationRow | undefined> {
      const { organization_id } = actor;
      const changed = Object.entries(settings ?? {}).filter(([, value]) => value !== undefined);
      const set = {
        ...(name !== undefined && { name }),
        ...(slug !== undefined && { slug }),
        ...Object.fromEntries(changed.map(([key, value]) => [`settings.${key}`, value])),
      };
      try {
        return await store.transact(actor, async (tx) => {
          const [filter, { session }] = [{ _id: organization_id }, tx];
          const before = await rows.findOne(filter, null, { session }).lean();
          const update = { $set: set, $inc: { row_version: 1 } };
          const options = { session, returnDocument: 'after' as const };
          const after = await rows.findOneAndUpdate(filter, update, options).lean();
          if (!before || !after) return undefined;
          onChanged(before, after, tx);
          return after;
        });
      } catch (error) {
        if (isDuplicate(error)) throw SlugTaken();
        throw error;
      }
    },
  };
}

export type OrganizationRepository = ReturnType<typeof organizationRepository>;
