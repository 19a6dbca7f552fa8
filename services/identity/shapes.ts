/** The schemas of people, organizations and credentials, as clients send and receive them. */
import { z } from 'zod';
import { hostNamePattern, id, languageTag, portPattern, requiredText, text, timestamp } from '#libs/contract';
import { planNames } from './rules/plans.ts';
import type { StorageLimitName } from './rules/storage-limits.ts';

/** The plan of an organization. */
export const plan = z.enum(planNames).meta({ id: 'Plan' });

/** A member's role. */
export const role = z.enum(['member', 'admin']).meta({ id: 'Role', description: 'Role in the organization' });
export type Role = z.infer<typeof role>;

export const email = z
  .string()
  .trim()
  .toLowerCase()
  .max(254)
  .pipe(z.email())
  .meta({ description: 'Case-insensitive', format: 'email', pattern: z.regexes.email.source });
export const slug = z
  .string()
  .regex(
    /^[a-z0-9](?:[a-z0-9-]{1,38}[a-z0-9])$/,
    'Use 3 to 40 lower-case letters, digits and dashes, with no dash at either end',
  )
  .meta({ description: 'Part of public links' });
export const password = text(256).min(12, 'Use at least 12 characters');

/** Maximum size of a body with a password. A request that waits before its password is checked keeps its body. */
export const maxPasswordBodyBytes = 16 * 1024;

export const name = requiredText(200);

const lockPublished = z.boolean().meta({
  description:
    'If true, a published document can only be changed by revising it, and a revision needs a different version from its parent',
});

const approvalRequired = z.boolean().meta({
  description:
    'If true, a draft can only be published after its approval, and a published document can only be changed by revising it',
});

const showControl = z.boolean().meta({
  description:
    'If true, public links show when the document was approved and when its next review is due, and in JSON the content hash',
});

const originPattern = `^https?://${hostNamePattern}${portPattern}$`;
// a wildcard, an IPv6 address or a path would frame nobody: browsers or the CSP of public pages ignore it
const origin = z
  .string()
  .max(200)
  .refine(
    (text) => new RegExp(originPattern).test(text) && URL.parse(text)?.origin === text,
    'Use an origin such as https://intranet.example, in punycode, without a path, a wildcard, the default port or an IPv6 address',
  )
  .meta({ format: 'uri', pattern: originPattern });
/** The origins that may show a page in a frame: at most 50. */
export const frameOrigins = z.array(origin).max(50);
const embedOrigins = frameOrigins.meta({
  description: 'Origins that may embed public links in a frame; null allows any',
});

/** Settings in a request; absent settings do not change. */
export const settingsInput = z
  .strictObject({
    lock_published: lockPublished.optional(),
    approval_required: approvalRequired.optional(),
    show_control: showControl.optional(),
    embed_origins: embedOrigins.nullable().optional(),
    language: languageTag.optional(),
  })
  .meta({ id: 'SettingsInput', description: 'Settings to change; absent settings do not change.' });

const Settings = z
  .strictObject({
    lock_published: lockPublished,
    approval_required: approvalRequired,
    show_control: showControl,
    embed_origins: embedOrigins.nullable(),
    language: z
      .string()
      .meta({ description: 'Language of documents that have none of their own (BCP 47); `en` unless set' }),
  })
  .meta({ id: 'Settings' });
export type Settings = z.infer<typeof Settings>;

/** The settings in an event: a newer version may have more. */
export const settingsChange = Settings.partial();

export const RoleInfo = z
  .strictObject({ name: role, description: z.string(), permissions: z.array(z.string()) })
  .meta({ id: 'RoleInfo' });

export const Organization = z
  .strictObject({
    id,
    name: z.string(),
    slug: z.string(),
    settings: Settings,
    created_at: timestamp,
  })
  .meta({ id: 'Organization' });

export const Member = z
  .strictObject({
    id,
    name: z.string(),
    email: z.string(),
    role,
    department: z.string().nullable(),
    joined_at: timestamp,
  })
  .meta({
    id: 'Member',
    description: 'A user in an organization; `id` is the user id that documents refer to.',
  });

export const Session = z
  .strictObject({
    access_token: z.string(),
    refresh_token: z.string(),
    token_type: z.literal('Bearer'),
    expires_in: z.number().int().meta({ description: 'Seconds' }),
    member: Member,
    organization: Organization,
  })
  .meta({ id: 'Session' });

export const AcceptedInvitation = z
  .strictObject({
    ...Session.shape,
    replaced_account: z
      .strictObject({ detail: z.string().meta({ description: 'What happened to the other account' }) })
      .nullable()
      .meta({ description: 'Set if your new account took over the email of another account' }),
  })
  .meta({ id: 'AcceptedInvitation' });

const StorageUse = z
  .strictObject({
    used: z
      .number()
      .int()
      .nullable()
      .meta({ description: 'Null if it is not measured, because the plan does not limit it' }),
    limit: z.number().int().nullable().meta({ description: 'Null means unlimited' }),
  })
  .meta({ id: 'StorageUse' });

export const Subscription = z
  .strictObject({
    plan,
    publish_limit: z
      .number()
      .int()
      .nullable()
      .meta({ description: 'Number of publishes; null means unlimited' }),
    publish_used: z.number().int(),
    renews_at: timestamp.nullable().meta({ description: 'When the count restarts; null means never' }),
    storage: z
      .strictObject({
        documents: StorageUse,
        document_bytes: StorageUse,
        asset_bytes: StorageUse,
        template_bytes: StorageUse,
        api_keys: StorageUse,
        pending_invitations: StorageUse,
        webhooks: StorageUse,
      } satisfies Record<StorageLimitName, typeof StorageUse>)
      .meta({
        description:
          'What is stored, and the limits of the plan. `document_bytes` counts rich text and 1 KiB for each node, in blocks of 64 KiB, and at least one block for each document; `asset_bytes` the stored pictures, each once, until 24 hours after no document names them; `template_bytes` the uploaded files.',
      }),
  })
  .meta({ id: 'Subscription' });

export const departmentName = requiredText(200);

/** Former names, each with the `row_version` of the organization from which the department has the next name. */
export const formerNames = z.array(z.object({ name: z.string(), until_version: z.number() }));

export const Department = z
  .strictObject({ id, name: z.string(), created_at: timestamp })
  .meta({ id: 'Department' });

export const Invitation = z
  .strictObject({
    id,
    email: z.string(),
    role,
    department: z.string().nullable(),
    invited_by: id
      .nullable()
      .meta({ description: 'The admin who invited the person; null for the operator' }),
    expires_at: timestamp,
    created_at: timestamp,
  })
  .meta({ id: 'Invitation' });

export const NewInvitation = z
  .strictObject({
    ...Invitation.shape,
    token: z.string().nullable().meta({ description: 'Shown only once' }),
    invite_url: z
      .string()
      .nullable()
      .meta({ description: 'Shown only once; the page of your application that accepts the invitation' }),
  })
  .meta({ id: 'NewInvitation' });

export const InboxItem = z
  .strictObject({
    id,
    type: z.string().meta({ description: 'Name of the event that caused the notification' }),
    title: z.string().meta({ description: 'One sentence to show to the user' }),
    data: z.record(z.string(), z.unknown()),
    read_at: timestamp.nullable(),
    created_at: timestamp,
  })
  .meta({ id: 'InboxItem' });
export type InboxItem = z.infer<typeof InboxItem>;

export const ApiKey = z
  .strictObject({
    id,
    name: z.string(),
    role,
    prefix: z.string().meta({ description: 'The first characters of the key, for recognizing it' }),
    created_by: id,
    expires_at: timestamp.nullable(),
    last_used_at: timestamp.nullable(),
    created_at: timestamp,
  })
  .meta({ id: 'ApiKey' });
