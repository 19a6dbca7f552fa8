/** The rows of identity's collections. */
import type { Settings } from '../shapes.ts';
import type { Role } from '../views.ts';

export interface UserRow {
  _id: string;
  email: string;
  name: string;
  password: string;
  /** Raised by whatever ends all sessions of the person; tokens name it. Absent is 0. */
  session_epoch?: number;
  /** Raised when the person joins an organization, so that this collides with a new password. */
  joined?: number;
  created_at: Date;
}

export interface OrganizationRow {
  _id: string;
  name: string;
  slug: string;
  /** What the organization set; the rest holds as usual. */
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
  /** The person's `session_epoch`, here too: it is read with every request. */
  session_epoch?: number;
  /** Raised when the member makes an API key, so that this collides with the removal. */
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
  /** The key that made this one, if one did. */
  created_by_key_id: string | null;
  /** Raised when this key makes another one, so that this collides with its revocation. */
  keys_made?: number;
  name: string;
  role: Role;
  prefix: string;
  expires_at: Date | null;
  last_used_at: Date | null;
  created_at: Date;
}

export interface SessionRow {
  /** Hash of the session's name, which all its refresh tokens begin with. */
  _id: string;
  /** Hash of the one refresh token that works now. */
  token_hash: string;
  organization_id: string;
  user_id: string;
  /** The person's `session_epoch` when it began; another one has ended it. */
  epoch: number;
  expires_at: Date;
}

export interface PasswordResetRow {
  /** The person's user id: there is one open reset for each. */
  _id: string;
  token_hash: string;
  /** The organization whose admin made it; null when the operator did. */
  organization_id: string | null;
  expires_at: Date;
  created_at: Date;
}

export interface SigningKeyRow {
  /** The key's id, `kid` in token headers. */
  _id: string;
  public_jwk: string;
  sealed_private: string;
  /** From when it signs: a while after it was published, so that every verifier knows it by then. */
  signs_from: Date;
  created_at: Date;
}

export interface DepartmentRow {
  _id: string;
  organization_id: string;
  name: string;
  /** Raised whenever a member is put under it, so that this collides with its deletion. */
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

export interface InboxRow {
  _id: string;
  organization_id: string;
  user_id: string;
  type: string;
  /** Id of the thing that it is about; repeats about one thing fold while they are unread. */
  about: string;
  title: string;
  data: Record<string, unknown>;
  read_at: Date | null;
  created_at: Date;
}

export interface RateLimitRow {
  /** What is counted, a hash of whom it concerns, and the number of the window. */
  _id: string;
  count: number;
  expires_at: Date;
}
