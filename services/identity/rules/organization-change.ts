/** Decides what changed in an organization. */
import { isDeepStrictEqual } from 'node:util';
import type { Settings } from '../shapes.ts';

/** The fields that can change. */
interface OrganizationFields {
  name: string;
  slug: string;
  settings: Settings;
}

/** Names the changed fields and settings, and returns them before and after the change. The name is left out. */
export function toOrganizationChange(before: OrganizationFields, after: OrganizationFields) {
  const fields = (['name', 'slug'] as const).filter((field) => before[field] !== after[field]);
  // the keys are those of the settings
  const settings = (Object.keys(after.settings) as (keyof Settings)[]).filter(
    (key) => !isDeepStrictEqual(before.settings[key], after.settings[key]),
  );
  const toFields = (organization: OrganizationFields) => ({
    slug: organization.slug,
    settings: Object.fromEntries(settings.map((key) => [key, organization.settings[key]])),
  });
  return {
    changed: [...fields, ...settings.map((key) => `settings.${key}`)],
    before: toFields(before),
    after: toFields(after),
  };
}
