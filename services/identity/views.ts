/** The views that other services read: credentials, members, organizations and subscriptions. */
import { z } from 'zod';
import { id, view } from '#libs/contract';
import { defaultSettings } from './rules/default-settings.ts';
import { planNames } from './rules/plans.ts';
import { storageLimits } from './rules/storage-limits.ts';
import { formerNames, role } from './shapes.ts';

/** API keys with the current role of their member. Keys of removed members are left out. */
export const keyPrincipals = view({
  name: 'api_key_principals',
  collection: 'api_keys',
  scope: null,
  unscopedReason: 'authentication finds the organization by the hash of the key',
  stages: [
    { $lookup: { from: 'members', localField: 'member_id', foreignField: '_id', as: 'member' } },
    { $unwind: '$member' },
    { $set: { member_role: '$member.role' } },
  ],
  row: z.object({
    _id: id,
    hash: z.string(),
    organization_id: id,
    user_id: id,
    role,
    member_role: role,
    expires_at: z.date().nullable(),
  }),
});

/** The current members with their roles. */
export const memberStates = view({
  name: 'member_states',
  collection: 'members',
  scope: 'organization_id',
  row: z.object({
    organization_id: id,
    user_id: id,
    role,
    /** An access token with another epoch is no longer valid. A missing value means 0. */
    session_epoch: z.number().nullish(),
    /** When a session of the member was last deleted. Older access tokens are valid only if their session exists. */
    sessions_ended_at: z.date().nullish(),
  }),
});

/** The names of all users, also of those who have left an organization: its records still name them. */
export const userNames = view({
  name: 'user_names',
  collection: 'users',
  scope: null,
  unscopedReason: 'a user belongs to several organizations; readers take the ids from rows of the caller',
  row: z.object({ _id: id, name: z.string() }),
});

/** The current members with what other members know of them. */
export const memberProfiles = view({
  name: 'member_profiles',
  collection: 'members',
  scope: 'organization_id',
  stages: [
    { $lookup: { from: 'users', localField: 'user_id', foreignField: '_id', as: 'user' } },
    { $unwind: '$user' },
    { $set: { name: '$user.name' } },
  ],
  row: z.object({
    organization_id: id,
    user_id: id,
    name: z.string(),
    department: z.string().nullable(),
    joined_at: z.date(),
  }),
});

/** The departments with their names, also those that they had before. */
export const departmentNames = view({
  name: 'department_names',
  collection: 'departments',
  scope: 'organization_id',
  stages: [{ $set: { former_names: { $ifNull: ['$former_names', []] } } }],
  row: z.object({
    organization_id: id,
    name: z.string(),
    former_names: formerNames,
  }),
});

/** The sessions that have not ended. A new password also ends sessions by `session_epoch`. */
export const liveSessions = view({
  name: 'live_sessions',
  collection: 'sessions',
  scope: 'organization_id',
  row: z.object({ _id: z.string(), organization_id: id }),
});

/** Public keys for verifying access tokens. */
export const publicKeys = view({
  name: 'signing_keys_public',
  collection: 'signing_keys',
  scope: null,
  unscopedReason: 'public keys are not secret',
  row: z.object({ _id: z.string(), public_jwk: z.string() }),
});

/** Organizations with their settings. `row_version` increases with every change. */
export const organizationProfiles = view({
  name: 'organization_profiles',
  collection: 'organizations',
  scope: null,
  unscopedReason: 'public links identify an organization by its slug',
  stages: [
    {
      $set: {
        lock_published: { $ifNull: ['$settings.lock_published', defaultSettings.lock_published] },
        approval_required: { $ifNull: ['$settings.approval_required', defaultSettings.approval_required] },
        show_control: { $ifNull: ['$settings.show_control', defaultSettings.show_control] },
        embed_origins: { $ifNull: ['$settings.embed_origins', defaultSettings.embed_origins] },
        language: { $ifNull: ['$settings.language', defaultSettings.language] },
      },
    },
  ],
  row: z.object({
    _id: id,
    name: z.string(),
    slug: z.string(),
    row_version: z.number(),
    /** If true, a published document can only be changed by revising it. */
    lock_published: z.boolean(),
    /** If true, a draft can only be published after its approval; missing until the view is updated. */
    approval_required: z.boolean().nullish(),
    /** If true, public links show approval and next review; missing until the view is updated. */
    show_control: z.boolean().nullish(),
    /** Origins that may embed public links in a frame; null allows any. */
    embed_origins: z.array(z.string()).nullable(),
    /** The language of documents that have none of their own (BCP 47); missing until the view is updated. */
    language: z.string().nullish(),
  }),
});

/**
 * The current plan of an organization. A `publish_limit` of null means unlimited; `renews` defines when the
 * count restarts.
 */
export const subscriptionTerms = view({
  name: 'subscription_terms',
  collection: 'subscriptions',
  scope: '_id',
  row: z.object({
    _id: id,
    plan: z.enum(planNames),
    publish_limit: z.number().nullable(),
    /** Incremented whenever the plan is set. Publishes are counted per version. */
    terms_version: z.number(),
    renews: z.enum(['monthly', 'never']),
    /** Missing for a plan that was set before limits existed: it is unlimited. */
    storage_limits: storageLimits.exactOptional(),
  }),
});

/** The views that every service reads to authenticate a caller and to check the plan. */
export const principalViews = [
  keyPrincipals,
  memberStates,
  liveSessions,
  publicKeys,
  subscriptionTerms,
] as const;
