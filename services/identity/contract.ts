/** What identity offers: people, organizations, credentials; and to its neighbours: who is asking, and on which plan. */
import { z } from 'zod';
import { anyone, contract, id, media, NotFound, nothing, operation } from '#libs/contract';
import { publishRecords } from '../documents/views.ts';
import { member, operator } from './access.ts';
import {
  EmailTaken,
  OrganizationRequired,
  RefreshTokenInvalid,
  RoleTooHigh,
  SlugTaken,
  WrongCredentials,
} from './problems.ts';
import { planNames } from './rules/plans.ts';
import {
  ApiKey,
  email,
  Member,
  name,
  Organization,
  password,
  Session,
  Subscription,
  slug,
} from './shapes.ts';
import { organizationProfiles, principalViews, role } from './views.ts';

export * from './access.ts';
export { type Asking, principalFrom } from './principal.ts';
export * from './problems.ts';
export { periodOf, renewalOf, type Terms } from './rules/terms.ts';
export { ApiKey, Member, Organization, Session, Subscription } from './shapes.ts';
export * from './views.ts';

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

export const getSubscription = operation({
  id: 'getSubscription',
  method: 'get',
  path: '/organization/subscription',
  summary: 'Get the plan, its limit and what is used of it',
  access: member,
  status: 200,
  returns: Subscription,
  problems: [],
});

export const setSubscription = operation({
  id: 'setSubscription',
  method: 'put',
  at: 'root',
  path: '/ops/organizations/{organization_id}/subscription',
  summary: 'Set the plan of an organization',
  access: operator,
  params: z.object({ organization_id: id }),
  body: z.strictObject({ plan: z.enum(planNames) }),
  status: 200,
  returns: Subscription,
  problems: [NotFound],
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
    getSubscription,
    createApiKey,
    getReference,
    readReference,
    getReferenceAsset,
  ],
  operates: [setSubscription],
  says: [],
  hears: [],
  owns: ['users', 'members', 'organizations', 'subscriptions', 'api_keys', 'sessions', 'signing_keys'],
  views: [...principalViews, organizationProfiles],
  reads: [...principalViews, publishRecords],
});
