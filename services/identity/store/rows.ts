/** The row types of identity's collections. */
import type { Settings } from '../shapes.ts';
import type { Role } from '../shapes.ts';

export interface UserRow {
  _id: string;
  email: string;
  name: string;
  password: string;
  /** Incremented to end all sessions of the user; access tokens contain it. Absent means 0. */
  session_epoch?: number;
  /** Incremented when the user joins an organization, to conflict with a concurrent password change. */
  joined?: number;
  created_at: Date;
}

export interface OrganizationRow {
  _id: string;
  name: string;
  slug: string;
  /** The settings that the organization has set; the others have their defaults. */
  settings?: Partial<Settings>;
  row_version: number;
  created_at: Date;
}

export interface MemberRow {
  /** `<organization id>:<user id>` */
  _id: string;
  organization_id: string;
  user_id: string;
  role: Role;
  department: string | null;
  /** A copy of the user's `session_epoch`, because every request reads it. */
  session_epoch?: number;
  /** Incremented when the member creates an API key, to conflict with a concurrent removal of the member. */
  keys_made?: number;
  joined_at: Date;
}

export interface SubscriptionRow {
  /** The organization's id. */
  _id: string;
  plan: string;
  publish_limit: number | null;
  terms_version: number;
  renews: 'monthly' | 'never';
}

export interface ApiKeyRow {
  _id: string;
  hash: string;
  organization_id: string;
  user_id: string;
  member_id: string;
  /** The API key with which this one was created, or null. */
  created_by_key_id: string | null;
  /** Incremented when this key creates another key, to conflict with a concurrent revocation of this key. */
  keys_made?: number;
  name: string;
  role: Role;
  prefix: string;
  expires_at: Date | null;
  last_used_at: Date | null;
  created_at: Date;
}

export interface SessionRow {
  /** Hash of the session name, the first part of every refresh token of the session. */
  _id: string;
  /** Hash of the current refresh token. */
  token_hash: string;
  organization_id: string;
  user_id: string;
  /** The user's `session_epoch` when the session started; a different value ends the session. */
  epoch: number;
  expires_at: Date;
}

export interface PasswordResetRow {
  /** The user's id, so that a user has at most one open reset. */
  _id: string;
  token_hash: string;
  /** The organization of the admin who created the reset; null if the operator created it. */
  organization_id: string | null;
  expires_at: Date;
  created_at: Date;
}

export interface SigningKeyRow {
  /** The key's id, `kid` in token headers. */
  _id: string;
  public_jwk: string;
  sealed_private: string;
  /** When the key starts to sign tokens: some time after its publication, so that verifiers have it. */
  signs_from: Date;
  created_at: Date;
}

export interface DepartmentRow {
  _id: string;
  organization_id: string;
  name: string;
  /** Incremented when the department is assigned, to conflict with a concurrent deletion of it. */
  touched: number;
  created_at: Date;
}

export interface InvitationRow {
  _id: string;
  organization_id: string;
  email: string;
  role: Role;
  department: string | null;
  invited_by: string;
  /** Hash of the token. */
  token_hash: string;
  expires_at: Date;
  created_at: Date;
}

export interface NotificationRow {
  _id: string;
  organization_id: string;
  user_id: string;
  type: string;
  /** Id of its subject. An unread notification of the same type and subject is replaced by a newer one. */
  about: string;
  title: string;
  data: Record<string, unknown>;
  read_at: Date | null;
  created_at: Date;
}

export interface RateLimitRow {
  /** The policy, a hash of the subjects, and the number of the window. */
  _id: string;
  count: number;
  expires_at: Date;
}
