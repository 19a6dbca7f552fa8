/** The MongoDB collections of identity: their rows, indexes and sealed fields. */
import { z } from 'zod';
import { id } from '#libs/contract';
import { collection, type SealedField, type StoredRow } from '#libs/store';
import {
  ApiKey,
  Department,
  formerNames,
  InboxItem,
  Invitation,
  Member,
  Organization,
  type Settings,
} from '../shapes.ts';
import { subscriptionTerms } from '../views.ts';
import { auditLog } from './audit-log-collection.ts';

export const users = collection('users', {
  row: Member.pick({ name: true, email: true }).extend({
    _id: id,
    password: z.string(),
    /** Incremented to end all sessions of the user; access tokens contain it. Absent means 0. */
    session_epoch: z.number().exactOptional(),
    /**
     * How many invitations the user has accepted. Absent if none has confirmed the email yet. The increment conflicts
     * with a concurrent password change.
     */
    joined: z.number().exactOptional(),
    /** The newer account that took over the unconfirmed email of this one. Both can log in with it. */
    replaced_by: id.exactOptional(),
    /** The networks from which the user logged in lately (`rules/usual-networks.ts`). */
    usual_networks: z.array(z.object({ hash: z.string(), at: z.date() })).exactOptional(),
    created_at: z.date(),
  }),
  // an email belongs to one account that is not replaced
  indexes: [{ on: { email: 1, replaced_by: 1 }, options: { unique: true } }],
  obsoleteIndexes: ['email_1'],
});
export type UserRow = StoredRow<typeof users>;

export const organizations = collection('organizations', {
  row: Organization.pick({ name: true, slug: true }).extend({
    _id: id,
    /** The settings that the organization has set; the others have their defaults. */
    settings: z.custom<Partial<Settings>>().exactOptional(),
    row_version: z.number(),
    created_at: z.date(),
  }),
  indexes: [{ on: { slug: 1 }, options: { unique: true } }],
});
export type OrganizationRow = StoredRow<typeof organizations>;

export const members = collection('members', {
  row: Member.pick({ role: true, department: true }).extend({
    /** `<organization id>:<user id>` */
    _id: z.string(),
    organization_id: id,
    user_id: id,
    /** A copy of the user's `session_epoch`, because every request reads it. */
    session_epoch: z.number().exactOptional(),
    /** When a session of the member was last deleted. Older access tokens are valid only if their session exists. */
    sessions_ended_at: z.date().exactOptional(),
    /** Incremented when the member creates an API key, to conflict with a concurrent removal of the member. */
    keys_made: z.number().exactOptional(),
    joined_at: z.date(),
  }),
  indexes: [
    // covers the query that every request runs, so that MongoDB reads no document
    { on: { organization_id: 1, user_id: 1, role: 1, session_epoch: 1, sessions_ended_at: 1 } },
    { on: { user_id: 1 } },
  ],
});
export type MemberRow = StoredRow<typeof members>;

/** The rows are those of the view: it leaves nothing out. */
export const subscriptions = collection('subscriptions', { row: subscriptionTerms.row });
export type SubscriptionRow = StoredRow<typeof subscriptions>;

export const apiKeys = collection('api_keys', {
  row: ApiKey.pick({ name: true, role: true, prefix: true }).extend({
    _id: id,
    hash: z.string(),
    organization_id: id,
    user_id: id,
    member_id: z.string(),
    /** The API key with which this one was created, or null. */
    created_by_key_id: id.nullable(),
    /** Incremented when this key creates another key, to conflict with a concurrent revocation of this key. */
    keys_made: z.number().exactOptional(),
    expires_at: z.date().nullable(),
    last_used_at: z.date().nullable(),
    created_at: z.date(),
  }),
  indexes: [
    { on: { hash: 1 }, options: { unique: true } },
    { on: { organization_id: 1, _id: -1 } },
    { on: { organization_id: 1, user_id: 1, _id: -1 } },
    { on: { organization_id: 1, created_by_key_id: 1 } },
  ],
});
export type ApiKeyRow = StoredRow<typeof apiKeys>;

export const sessions = collection('sessions', {
  row: z.object({
    /** Hash of the session name, the first part of every refresh token of the session; `sid` in access tokens. */
    _id: z.string(),
    /** Hash of the current refresh token. */
    token_hash: z.string(),
    organization_id: id,
    user_id: id,
    /** The user's `session_epoch` when the session started; a different value ends the session. */
    epoch: z.number(),
    expires_at: z.date(),
  }),
  indexes: [{ on: { user_id: 1 } }, { on: { expires_at: 1 }, options: { expireAfterSeconds: 0 } }],
});
export type SessionRow = StoredRow<typeof sessions>;

export const passwordResets = collection('password_resets', {
  row: z.object({
    /** The user's id, so that a user has at most one open reset. */
    _id: id,
    token_hash: z.string(),
    /** The organization of the admin who created the reset; null if the operator created it. */
    organization_id: id.nullable(),
    expires_at: z.date(),
    created_at: z.date(),
  }),
  indexes: [
    { on: { token_hash: 1 }, options: { unique: true } },
    { on: { expires_at: 1 }, options: { expireAfterSeconds: 0 } },
  ],
});
export type PasswordResetRow = StoredRow<typeof passwordResets>;

export const sealedPrivate: SealedField<{ _id: string }> = {
  path: 'sealed_private',
  context: ({ _id }) => `signing_keys/${_id}`,
};

export const signingKeys = collection('signing_keys', {
  row: z.object({
    /** The key's id, `kid` in token headers. */
    _id: z.string(),
    public_jwk: z.string(),
    sealed_private: z.string(),
    /** When the key starts to sign tokens: some time after its publication, so that verifiers have it. */
    signs_from: z.date(),
    created_at: z.date(),
  }),
  sealed: [sealedPrivate],
});
export type SigningKeyRow = StoredRow<typeof signingKeys>;

export const departments = collection('departments', {
  row: Department.pick({ name: true }).extend({
    _id: id,
    organization_id: id,
    /** The last 100 former names, oldest first. Absent if there is none. */
    former_names: formerNames.exactOptional(),
    /** Incremented when the department is assigned, to conflict with a concurrent deletion of it. */
    touched: z.number(),
    created_at: z.date(),
  }),
  indexes: [{ on: { organization_id: 1, name: 1 }, options: { unique: true } }],
});
export type DepartmentRow = StoredRow<typeof departments>;

export const invitations = collection('invitations', {
  row: Invitation.pick({ email: true, role: true, department: true, invited_by: true }).extend({
    _id: id,
    organization_id: id,
    /** Hash of the token. */
    token_hash: z.string(),
    expires_at: z.date(),
    created_at: z.date(),
  }),
  indexes: [
    { on: { organization_id: 1, email: 1 }, options: { unique: true } },
    { on: { organization_id: 1, _id: -1 } },
    { on: { token_hash: 1 }, options: { unique: true } },
    { on: { expires_at: 1 }, options: { expireAfterSeconds: 0 } },
  ],
});
export type InvitationRow = StoredRow<typeof invitations>;

export const notifications = collection('notifications', {
  row: InboxItem.pick({ type: true, title: true, data: true }).extend({
    _id: id,
    organization_id: id,
    user_id: id,
    /** Id of its subject. An unread notification of the same type and subject is replaced by a newer one. */
    about: z.string(),
    read_at: z.date().nullable(),
    created_at: z.date(),
  }),
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
export type NotificationRow = StoredRow<typeof notifications>;

export const rateLimits = collection('rate_limits', {
  row: z.object({
    /** The policy, a hash of the subjects, and the number of the window. */
    _id: z.string(),
    count: z.number(),
    expires_at: z.date(),
  }),
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
  auditLog,
];
