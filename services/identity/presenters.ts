/** Maps stored rows to the shapes that clients receive. */
import type { z } from 'zod';
import { defaultSettings } from './rules/default-settings.ts';
import type { ApiKey, Department, InboxItem, Invitation, Member, Organization } from './shapes.ts';
import type {
  ApiKeyRow,
  DepartmentRow,
  InvitationRow,
  MemberRow,
  NotificationRow,
  OrganizationRow,
  UserRow,
} from './store/collections.ts';

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

/** Maps a department. */
export function toDepartment({ _id, name, created_at }: DepartmentRow): z.infer<typeof Department> {
  return { id: _id, name, created_at: created_at.toISOString() };
}

/** Maps an invitation, without its token. */
export function toInvitation(row: InvitationRow): z.infer<typeof Invitation> {
  const { _id, email, role, department, invited_by, expires_at, created_at } = row;
  const times = { expires_at: expires_at.toISOString(), created_at: created_at.toISOString() };
  return { id: _id, email, role, department, invited_by, ...times };
}

/** Maps a notification to an item of the inbox. */
export function toInboxItem(row: NotificationRow): z.infer<typeof InboxItem> {
  const { _id, type, title, data, read_at, created_at } = row;
  return {
    id: _id,
    type,
    title,
    data,
    read_at: read_at?.toISOString() ?? null,
    created_at: created_at.toISOString(),
  };
}

/** Maps an API key, without the key itself. */
export function toApiKey(row: ApiKeyRow): z.infer<typeof ApiKey> {
  return {
    id: row._id,
    name: row.name,
    role: row.role,
    prefix: row.prefix,
    created_by: row.user_id,
    expires_at: row.expires_at?.toISOString() ?? null,
    last_used_at: row.last_used_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
  };
}
