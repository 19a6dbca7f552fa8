/** Organizations in MongoDB. */

import type { Actor } from '#libs/store';
import { isDuplicate, type Store } from '#libs/store';
import { SlugTaken } from '../problems.ts';
import type { Settings } from '../shapes.ts';
import { type OrganizationRow, organizations } from './collections.ts';

/** What can be changed of an organization. */
export interface OrganizationChange {
  name?: string | undefined;
  slug?: string | undefined;
  settings?: { [Key in keyof Settings]?: Settings[Key] | undefined } | undefined;
}

/** Reads and changes the organization of who asks. */
export function organizationRows(store: Store) {
  const rows = store.rows(organizations);

  return {
    async get({ organization_id }: Actor): Promise<OrganizationRow | undefined> {
      return (await rows.findOne({ _id: organization_id }).lean()) ?? undefined;
    },

    /** Changes what is named; settings are merged by key. `SlugTaken`. */
    async change(
      { organization_id }: Actor,
      { name, slug, settings }: OrganizationChange,
    ): Promise<OrganizationRow | undefined> {
      const named = Object.entries(settings ?? {}).filter(([, value]) => value !== undefined);
      const set = {
        ...(name !== undefined && { name }),
        ...(slug !== undefined && { slug }),
        ...Object.fromEntries(named.map(([key, value]) => [`settings.${key}`, value])),
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

export type OrganizationRows = ReturnType<typeof organizationRows>;
