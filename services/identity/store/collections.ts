/** What identity keeps in MongoDB: its collections with their fields and indexes. */
import { collection } from '#libs/store';
import type { Settings } from '../shapes.ts';
import type { Role } from '../views.ts';

export interface UserRow {
  _id: string;
  email: string;
  name: string;
  password: string;
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
  made_by_key: string | null;
  name: string;
  role: Role;
  prefix: string;
  expires_at: Date | null;
  last_used_at: Date | null;
  created_at: Date;
}

export interface SessionRow {
  /** Hash of the refresh token. */
  _id: string;
  /** All refresh tokens that came from one login. */
  family: string;
  organization_id: string;
  user_id: string;
  used: boolean;
  expires_at: Date;
}

export interface SigningKeyRow {
  /** The key's id, `kid` in token headers. */
  _id: string;
  public_jwk: string;
  sealed_private: string;
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

const text = { type: String, required: true } as const;

export const users = collection<UserRow>('users', {
  fields: { _id: String, email: text, name: text, password: text, created_at: Date },
  indexes: [{ on: { email: 1 }, options: { unique: true } }],
});

export const organizations = collection<OrganizationRow>('organizations', {
  fields: { _id: String, name: text, slug: text, settings: Object, row_version: Number, created_at: Date },
  indexes: [{ on: { slug: 1 }, options: { unique: true } }],
});

export const members = collection<MemberRow>('members', {
  fields: {
    _id: String,
    organization_id: text,
    user_id: text,
    role: text,
    department: String,
    joined_at: Date,
  },
  indexes: [{ on: { organization_id: 1, user_id: 1, role: 1 } }, { on: { user_id: 1 } }],
});

export const subscriptions = collection<SubscriptionRow>('subscriptions', {
  fields: { _id: String, plan: text, publish_limit: Number, terms_version: Number, renews: text },
});

export const apiKeys = collection<ApiKeyRow>('api_keys', {
  fields: {
    _id: String,
    hash: text,
    organization_id: text,
    user_id: text,
    member_id: text,
    made_by_key: String,
    name: text,
    role: text,
    prefix: text,
    expires_at: Date,
    last_used_at: Date,
    created_at: Date,
  },
  indexes: [
    { on: { hash: 1 }, options: { unique: true } },
    { on: { organization_id: 1, _id: -1 } },
    { on: { organization_id: 1, user_id: 1, _id: -1 } },
    { on: { organization_id: 1, made_by_key: 1 } },
  ],
});

export const sessions = collection<SessionRow>('sessions', {
  fields: {
    _id: String,
    family: text,
    organization_id: text,
    user_id: text,
    used: Boolean,
    expires_at: Date,
  },
  indexes: [
    { on: { family: 1 } },
    { on: { user_id: 1 } },
    { on: { expires_at: 1 }, options: { expireAfterSeconds: 0 } },
  ],
});

export const signingKeys = collection<SigningKeyRow>('signing_keys', {
  fields: { _id: String, public_jwk: text, sealed_private: text, created_at: Date },
});

export const departments = collection<DepartmentRow>('departments', {
  fields: { _id: String, organization_id: text, name: text, touched: Number, created_at: Date },
  indexes: [{ on: { organization_id: 1, name: 1 }, options: { unique: true } }],
});

export const invitations = collection<InvitationRow>('invitations', {
  fields: {
    _id: String,
    organization_id: text,
    email: text,
    role: text,
    department: String,
    invited_by: text,
    token_hash: text,
    expires_at: Date,
    created_at: Date,
  },
  indexes: [
    { on: { organization_id: 1, email: 1 }, options: { unique: true } },
    { on: { organization_id: 1, _id: -1 } },
    { on: { token_hash: 1 }, options: { unique: true } },
    { on: { expires_at: 1 }, options: { expireAfterSeconds: 0 } },
  ],
});

export const inboxItems = collection<InboxRow>('inbox_items', {
  fields: {
    _id: String,
    organization_id: text,
    user_id: text,
    type: text,
    about: String,
    title: text,
    data: Object,
    read_at: Date,
    created_at: Date,
  },
  indexes: [
    { on: { organization_id: 1, user_id: 1, _id: -1 } },
    { on: { organization_id: 1, user_id: 1, read_at: 1, _id: -1 } },
    { on: { created_at: 1 }, options: { expireAfterSeconds: 90 * 86_400 } },
  ],
});

/** Everything that identity owns. */
export const identityCollections = [
  users,
  organizations,
  members,
  subscriptions,
  departments,
  invitations,
  apiKeys,
  sessions,
  signingKeys,
  inboxItems,
];
