/** What identity lets its neighbours read: who is asking, which organization, on which terms. */
import { z } from 'zod';
import { id, view } from '#libs/contract';
import { standardSettings } from './rules/standard-settings.ts';

export const role = z.enum(['member', 'admin']).meta({ description: 'Role in the organization' });
export type Role = z.infer<typeof role>;

/** API keys with the role their member has now; keys of removed members are not in it. */
export const keyPrincipals = view({
  name: 'api_key_principals',
  collection: 'api_keys',
  scope: null,
  unscopedReason: 'read to learn the organization, by the hash of a secret',
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

/** Who is a member now, and as what. */
export const memberStates = view({
  name: 'member_states',
  collection: 'members',
  scope: 'organization_id',
  row: z.object({
    organization_id: id,
    user_id: id,
    role,
    /** Access tokens that name another one have ended; none is 0. */
    session_epoch: z.number().nullish(),
  }),
});

/** Public halves of the keys that access tokens are signed with. */
export const publicKeys = view({
  name: 'signing_keys_public',
  collection: 'signing_keys',
  scope: null,
  unscopedReason: 'public to the world',
  row: z.object({ _id: z.string(), public_jwk: z.string() }),
});

/** Organizations as their neighbours show them, with their settings; `row_version` rises with any change. */
export const organizationProfiles = view({
  name: 'organization_profiles',
  collection: 'organizations',
  scope: null,
  unscopedReason: 'public links name an organization by its slug',
  stages: [
    {
      $set: {
        lock_published: { $ifNull: ['$settings.lock_published', standardSettings.lock_published] },
        embed_origins: { $ifNull: ['$settings.embed_origins', standardSettings.embed_origins] },
      },
    },
  ],
  row: z.object({
    _id: id,
    name: z.string(),
    slug: z.string(),
    row_version: z.number(),
    /** A published document can only be changed by revising it. */
    lock_published: z.boolean(),
    /** Origins that may frame public links; null is any. */
    embed_origins: z.array(z.string()).nullable(),
  }),
});

/** What an organization's plan allows; a limit of null is none, `renews` says when the count starts anew. */
export const subscriptionTerms = view({
  name: 'subscription_terms',
  collection: 'subscriptions',
  scope: '_id',
  row: z.object({
    _id: id,
    plan: z.string(),
    publish_limit: z.number().nullable(),
    /** Counts the times the plan was set: what is counted under one version is not under another. */
    terms_version: z.number(),
    renews: z.enum(['monthly', 'never']),
  }),
});

/** The views that every service reads to know who is asking. */
export const principalViews = [keyPrincipals, memberStates, publicKeys, subscriptionTerms] as const;
