/** Maps members and organizations to the shapes that clients receive. */
import type { z } from 'zod';
import { defaultSettings } from './rules/default-settings.ts';
import type { Member, Organization } from './shapes.ts';
import type { MemberRow, OrganizationRow, UserRow } from './store/collections.ts';

/** Maps a user and a membership to a `Member`. */
export function toMember(user: UserRow, member: MemberRow): z.infer<typeof Member> {
  const { role, department, joined_at } = member;
  return {
    id: user._id,
    name: user.name,
    email: user.email,
    role,
    department,
    joined_at: joined_at.toISOString(),
  };
}

/** Maps an organization; settings that it has not set get their defaults. */
export function toOrganization({
  _id,
  name,
  slug,
  settings,
  created_at,
}: OrganizationRow): z.infer<typeof Organization> {
  return {
    id: _id,
    name,
    slug,
    settings: { ...defaultSettings, ...settings },
    created_at: created_at.toISOString(),
  };
}
