/** How identity's rows look to clients. */
import type { z } from 'zod';
import { standardSettings } from './rules/standard-settings.ts';
import type { ApiKey, Department, InboxItem, Invitation, Member, Organization } from './shapes.ts';
import type {
  ApiKeyRow,
  DepartmentRow,
  InboxRow,
  InvitationRow,
  MemberRow,
  OrganizationRow,
  UserRow,
} from './store/collections.ts';

/** A member: a person in an organization. */
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

/** An organization. */
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
    settings: { ...standardSettings, ...settings },
    created_at: created_at.toISOString(),
  };
}

/** A department. */
export function toDepartment({ _id, name, created_at }: DepartmentRow): z.infer<typeof Department> {
  return { id: _id, name, created_at: created_at.toISOString() };
}

/** An invitation without its token. */
export function toInvitation(row: InvitationRow): z.infer<typeof Invitation> {
  const { _id, email, role, department, invited_by, expires_at, created_at } = row;
  const times = { expires_at: expires_at.toISOString(), created_at: created_at.toISOString() };
  return { id: _id, email, role, department, invited_by, ...times };
}

/** An item of an inbox. */
export function toInboxItem(row: InboxRow): z.infer<typeof InboxItem> {
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

/** An API key without the key itself. */
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
