/** The operations on the organization and its subscription. */
import { z } from 'zod';
import { id, NotFound, operation, patchBody } from '#libs/contract';
import { admin, member, operator } from '../access.ts';
import { SlugTaken } from '../problems.ts';
import { name, Organization, plan, Subscription, settingsInput, slug } from '../shapes.ts';

export const getSubscription = operation({
  id: 'getSubscription',
  method: 'get',
  path: '/organization/subscription',
  summary: 'Get the plan, its limits and their usage',
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
  audit: 'subscription.update',
  params: z.object({ organization_id: id }),
  body: z.strictObject({ plan }),
  status: 200,
  returns: Subscription,
  problems: [NotFound],
});

export const createOrganization = operation({
  id: 'createOrganization',
  method: 'post',
  at: 'root',
  path: '/ops/organizations',
  summary: 'Create an organization without members',
  description: 'Then invite its first admin. The organization has the default plan.',
  access: operator,
  audit: 'organization.create',
  body: z.strictObject({ name, slug: slug.optional().meta({ description: 'Default: made from the name' }) }),
  status: 201,
  returns: Organization,
  problems: [SlugTaken],
});

export const getOrganization = operation({
  id: 'getOrganization',
  method: 'get',
  path: '/organization',
  summary: 'Get the organization',
  access: member,
  status: 200,
  returns: Organization,
  problems: [],
});

export const updateOrganization = operation({
  id: 'updateOrganization',
  method: 'patch',
  path: '/organization',
  summary: 'Update the name, slug or settings of the organization',
  description:
    'Settings are merged by key. A new slug immediately breaks all public links with the old slug.',
  access: admin,
  audit: 'organization.update',
  body: patchBody({ name, slug, settings: settingsInput }),
  status: 200,
  returns: Organization,
  problems: [SlugTaken],
});
