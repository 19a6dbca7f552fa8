/** The MongoDB collections of identity with their fields and indexes. */
import { collection, type SealedField } from '#libs/store';
import type {
  ApiKeyRow,
  DepartmentRow,
  InvitationRow,
  MemberRow,
  NotificationRow,
  OrganizationRow,
  PasswordResetRow,
  RateLimitRow,
  SessionRow,
  SigningKeyRow,
  SubscriptionRow,
  UserRow,
} from './rows.ts';

export type * from './rows.ts';

const text = { type: String, required: true } as const;

export const users = collection<UserRow>('users', {
  fields: {
    _id: String,
    email: text,
    name: text,
    password: text,
    session_epoch: Number,
    joined: Number,
    created_at: Date,
  },
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
    session_epoch: Number,
    keys_made: Number,
    joined_at: Date,
  },
  indexes: [
    // covers the query that every request runs, so that MongoDB reads no document
    { on: { organization_id: 1, user_id: 1, role: 1, session_epoch: 1 } },
    { on: { user_id: 1 } },
  ],
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
    created_by_key_id: String,
    keys_made: Number,
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
    { on: { organization_id: 1, created_by_key_id: 1 } },
  ],
});

export const sessions = collection<SessionRow>('sessions', {
  fields: {
    _id: String,
    token_hash: text,
    organization_id: text,
    user_id: text,
    epoch: Number,
    expires_at: Date,
  },
  indexes: [{ on: { user_id: 1 } }, { on: { expires_at: 1 }, options: { expireAfterSeconds: 0 } }],
});

export const passwordResets = collection<PasswordResetRow>('password_resets', {
  fields: { _id: String, token_hash: text, organization_id: String, expires_at: Date, created_at: Date },
  indexes: [
    { on: { token_hash: 1 }, options: { unique: true } },
    { on: { expires_at: 1 }, options: { expireAfterSeconds: 0 } },
  ],
});

export const sealedPrivate: SealedField<Pick<SigningKeyRow, '_id'>> = {
  path: 'sealed_private',
  context: ({ _id }) => `signing_keys/${_id}`,
};

export const signingKeys = collection<SigningKeyRow>('signing_keys', {
  fields: { _id: String, public_jwk: text, sealed_private: text, signs_from: Date, created_at: Date },
  sealed: [sealedPrivate],
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

export const notifications = collection<NotificationRow>('notifications', {
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
    // at most one unread notification per type and subject: concurrent inserts conflict
    {
      on: { organization_id: 1, user_id: 1, type: 1, about: 1 },
      options: { unique: true, partialFilterExpression: { read_at: { $type: 'null' } } },
    },
    { on: { created_at: 1 }, options: { expireAfterSeconds: 90 * 86_400 } },
  ],
});

export const rateLimits = collection<RateLimitRow>('rate_limits', {
  fields: { _id: String, count: Number, expires_at: Date },
  indexes: [{ on: { expires_at: 1 }, options: { expireAfterSeconds: 0 } }],
});

/** All collections of identity. */
export const identityCollections = [
  users,
  organizations,
  members,
  subscriptions,
  departments,
  invitations,
  apiKeys,
  sessions,
  passwordResets,
  signingKeys,
  notifications,
  rateLimits,
];
