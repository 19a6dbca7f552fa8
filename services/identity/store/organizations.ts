/** Organizations in MongoDB. */
import { type Actor, isDuplicate, type Store } from '#libs/store';
import { SlugTaken } from '../problems.ts';
import type { Settings } from '../shapes.ts';
import { type OrganizationRow, organizations } from './collections.ts';

/** A change to an organization; absent fields keep their values. */
export interface OrganizationChange {
  name?: string | undefined;
  slug?: string | undefined;
  settings?: { [Key in keyof Settings]?: Settings[Key] | undefined } | undefined;
}

/** Creates the repository of organizations, limited to the organization of the actor. */
export function organizationRepository(store: Store) {
  const rows = store.rows(organizations);

  return {
    async get({ organization_id }: Actor): Promise<OrganizationRow | undefined> {
      return (await rows.findOne({ _id: organization_id }).lean()) ?? undefined;
    },

    /** Changes the given fields and merges settings by key. Rejects with `SlugTaken`. */
    async update(
      { organization_id }: Actor,
      { name, slug, settings }: OrganizationChange,
    ): Promise<OrganizationRow | undefined> {
      const changed = Object.entries(settings ?? {}).filter(([, value]) => value !== undefined);
      const set = {
        ...(name !== undefined && { name }),
        ...(slug !== undefined && { slug }),
        ...Object.fromEntries(changed.map(([key, value]) => [`settings.${key}`, value])),
      };
      try {
        const options = { returnDocument: 'after' as const };
        return (
          (await rows
            .findOneAndUpdate({ _id: organization_id }, { $set: set, $inc: { row_version: 1 } }, options)
            .lean()) ?? undefined
        );
      } catch (error) {
        if (isDuplicate(error)) throw SlugTaken();
        throw error;
      }
    },
  };
}

export type OrganizationRepository = ReturnType<typeof organizationRepository>;
