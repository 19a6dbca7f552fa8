/** What identity offers: people, organizations, credentials; and to its neighbours: who is asking, and on which plan. */
import { z } from 'zod';
import {
  access,
  anyone,
  contract,
  Forbidden,
  id,
  media,
  nothing,
  operation,
  problem,
  timestamp,
} from '#libs/contract';
import type { Asking } from './principal.ts';
import { organizationProfiles, principalViews, role } from './views.ts';

export { type Asking, principalFrom } from './principal.ts';
export * from './views.ts';

// ── Problems ──────────────────────────────────────────────────────────────────────────────────────────────────────────

export const EmailTaken = problem(
  'email_taken',
  409,
  'There is an account with this email already: log in instead.',
);
export const SlugTaken = problem(
  'slug_taken',
  409,
  'Another organization has this slug: choose another one.',
);
export const WrongCredentials = problem('wrong_credentials', 401, 'Email or password is wrong.');
export const RefreshTokenInvalid = problem(
  'refresh_token_invalid',
  401,
  'This refresh token is not valid any more: log in again.',
);
export const OrganizationRequired = problem(
  'organization_required',
  400,
  'You are a member of several organizations: name one of them in `organization_slug`.',
);
export const RoleTooHigh = problem('role_too_high', 403, 'A key cannot have a higher role than its maker.');
export const ScalePlanRequired = problem('scale_plan_required', 403, 'Webhooks need the Scale plan.');

// ── Who may call ──────────────────────────────────────────────────────────────────────────────────────────────────────

/** Any member of an organization, with an access token or an API key. */
export const member = access<Asking>({
  name: 'member',
  sentence: 'Any member of the organization.',
  permits: () => undefined,
});

/** An admin of the organization. */
export const admin = access<Asking>({
  name: 'admin',
  sentence: 'Admins of the organization.',
  permits: (asking) =>
    asking.role === 'admin' ? undefined : Forbidden('Only an admin of the organization may do this.'),
});

/** Any member of an organization on the Scale plan. */
export const scaleMember = access<Asking>({
  name: 'scale plan member',
  sentence: 'Any member of an organization on the Scale plan.',
  permits: async (asking) => ((await asking.plan()) === 'scale' ? undefined : ScalePlanRequired()),
});

// ── Shapes ────────────────────────────────────────────────────────────────────────────────────────────────────────────

export const email = z
  .string()
  .trim()
  .toLowerCase()
  .max(254)
  .pipe(z.email())
  .meta({ description: 'Compared without case' });
export const slug = z
  .string()
  .regex(
    /^[a-z0-9](?:[a-z0-9-]{1,38}[a-z0-9])$/,
    'Use 3 to 40 lower-case letters, digits and dashes; no dash at the ends',
  )
  .meta({ description: 'Part of public links' });
const password = z.string().min(12, 'Use at least 12 characters').max(256);
const name = z.string().trim().min(1).max(200);

export const Organization = z
  .strictObject({
    id,
    name: z.string(),
    slug: z.string(),
    settings: z.strictObject({}),
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
    description: 'A person in an organization; `id` is the user id that documents carry.',
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

export const ApiKey = z
  .strictObject({
    id,
    name: z.string(),
    role,
    prefix: z.string().meta({ description: 'The first characters, to recognise it by' }),
    created_by: id,
    expires_at: timestamp.nullable(),
    last_used_at: timestamp.nullable(),
    created_at: timestamp,
  })
  .meta({ id: 'ApiKey' });

// ── Operations ────────────────────────────────────────────────────────────────────────────────────────────────────────

export const register = operation({
  id: 'register',
  method: 'post',
  path: '/auth/register',
  summary: 'Register an organization and its first admin',
  access: anyone,
  body: z.strictObject({
    organization_name: name,
    name,
    email,
    password,
    organization_slug: slug.optional(),
  }),
  status: 201,
  returns: Session,
  problems: [EmailTaken, SlugTaken],
});

export const logIn = operation({
  id: 'logIn',
  method: 'post',
  path: '/auth/login',
  summary: 'Log in',
  access: anyone,
  body: z.strictObject({ email, password: z.string().max(256), organization_slug: slug.optional() }),
  status: 200,
  returns: Session,
  problems: [WrongCredentials, OrganizationRequired],
});

export const refresh = operation({
  id: 'refresh',
  method: 'post',
  path: '/auth/refresh',
  summary: 'Exchange a refresh token for new tokens',
  description: 'Each refresh token works once; using an old one again ends the whole session.',
  access: anyone,
  body: z.strictObject({ refresh_token: z.string().max(200) }),
  status: 200,
  returns: Session,
  problems: [RefreshTokenInvalid],
});

export const logOut = operation({
  id: 'logOut',
  method: 'post',
  path: '/auth/logout',
  summary: 'End a session',
  access: anyone,
  body: z.strictObject({ refresh_token: z.string().max(200) }),
  status: 204,
  returns: nothing,
  problems: [],
});

const Jwks = z
  .strictObject({ keys: z.array(z.record(z.string(), z.string())) })
  .meta({ id: 'JsonWebKeySet' });

export const getKeySet = operation({
  id: 'getKeySet',
  method: 'get',
  path: '/auth/jwks.json',
  summary: 'The public keys that access tokens are signed with (RFC 7517)',
  access: anyone,
  status: 200,
  returns: Jwks,
  problems: [],
});

export const getMe = operation({
  id: 'getMe',
  method: 'get',
  path: '/me',
  summary: 'Who am I',
  access: member,
  status: 200,
  returns: z
    .strictObject({
      user: z.strictObject({ id, name: z.string(), email: z.string() }),
      member: Member,
      organization: Organization,
    })
    .meta({ id: 'Me' }),
  problems: [],
});

export const createApiKey = operation({
  id: 'createApiKey',
  method: 'post',
  path: '/api-keys',
  summary: 'Make an API key',
  description: 'The key itself is in this answer only. It acts as you, capped to its own role.',
  access: member,
  body: z.strictObject({
    name,
    role: role.default('member'),
    expires_at: z.iso.datetime({ offset: true }).nullish(),
  }),
  status: 201,
  returns: z
    .strictObject({ ...ApiKey.shape, key: z.string().nullable().meta({ description: 'Shown once' }) })
    .meta({ id: 'NewApiKey' }),
  secrets: ['key'],
  problems: [RoleTooHigh],
});

export const getReference = operation({
  id: 'getReference',
  method: 'get',
  path: '/openapi.json',
  summary: 'This reference as OpenAPI 3.1',
  access: anyone,
  status: 200,
  etag: true,
  returns: z.record(z.string(), z.unknown()),
  problems: [],
});

export const readReference = operation({
  id: 'readReference',
  method: 'get',
  path: '/docs',
  summary: 'This reference as a page for people',
  access: anyone,
  status: 200,
  returns: media({ 'text/html': { description: 'A page' } }),
  problems: [],
});

export const getReferenceAsset = operation({
  id: 'getReferenceAsset',
  method: 'get',
  path: '/docs/{file}',
  summary: 'A file of the reference page',
  access: anyone,
  params: z.object({
    file: z.enum(['swagger-ui.css', 'swagger-ui-bundle.js', 'start.js', 'favicon-32x32.png']),
  }),
  status: 200,
  returns: media({ '*/*': { description: 'A style sheet, a script or an icon' } }),
  problems: [],
});

export const identityContract = contract({
  name: 'identity',
  title: 'Identity',
  sentence: 'People, organizations, API keys and the reference of the API.',
  operations: [
    register,
    logIn,
    refresh,
    logOut,
    getKeySet,
    getMe,
    createApiKey,
    getReference,
    readReference,
    getReferenceAsset,
  ],
  says: [],
  hears: [],
  owns: ['users', 'members', 'organizations', 'subscriptions', 'api_keys', 'sessions', 'signing_keys'],
  views: [...principalViews, organizationProfiles],
  reads: [...principalViews],
});
