/** Tests the access rules that depend on a resource or on the kind of credential. */
import { describe, expect, test } from '@jest/globals';
import type { MemberPrincipal } from './access.ts';
import { onScalePlan, ownerOrAdmin, selfOrAdmin, sessionAdmin, sessionMember } from './access.ts';

function createPrincipal(
  role: 'member' | 'admin',
  { plan = 'trial', key_id = null as string | null } = {},
): MemberPrincipal {
  return { organization_id: 'acme', user_id: 'ann', key_id, role, plan: async () => plan };
}
const member = createPrincipal('member');
const admin = createPrincipal('admin');

describe('the owner or an admin', () => {
  const { resource, description } = ownerOrAdmin('publish this document');

  test.each([
    ['the owner', member, 'ann', true],
    ['another member', member, 'bob', false],
    ['an admin', admin, 'bob', true],
  ])('%s: allowed is a matter of ownership and role', (_, principal, created_by, expected) => {
    expect(resource?.allows(principal, { created_by })).toBe(expected);
  });

  test('the texts name the owner and the action', () => {
    expect(description).toBe('The owner or an admin may publish this document.');
    expect(resource?.deny().message).toBe('Only the owner or an admin may publish this document.');
    expect(ownerOrAdmin('delete this template', 'uploader').resource?.deny().message).toBe(
      'Only the uploader or an admin may delete this template.',
    );
  });
});

test('nobody but its member and admins may know a personal resource', () => {
  const { resource } = selfOrAdmin;
  expect(resource?.allows(member, { user_id: 'ann' })).toBe(true);
  expect(resource?.allows(member, { user_id: 'bob' })).toBe(false);
  expect(resource?.allows(admin, { user_id: 'bob' })).toBe(true);
  expect(resource?.deny().kind.status).toBe(404);
});

describe('access with a session', () => {
  const withKey = createPrincipal('admin', { key_id: 'key' });

  test('a member with an access token is allowed and an API key is not', () => {
    expect(sessionMember.resource?.allows(member, {})).toBe(true);
    expect(sessionMember.resource?.allows(withKey, {})).toBe(false);
    expect(sessionMember.resource?.deny()).toMatchObject({ name: 'password_needs_session' });
  });

  test('an admin must be logged in for a member of the organization', () => {
    expect(sessionAdmin.authorize(member)).toMatchObject({ name: 'forbidden' });
    expect(sessionAdmin.authorize(withKey)).toBeUndefined();
    expect(sessionAdmin.resource?.allows(withKey, {})).toBe(false);
    expect(sessionAdmin.resource?.allows(admin, {})).toBe(true);
  });
});

describe('access on the Scale plan', () => {
  const rule = onScalePlan(ownerOrAdmin('delete it', 'creator of the webhook'));

  test('another plan is rejected before the resource is loaded', async () => {
    expect(await rule.authorize(admin)).toMatchObject({ name: 'scale_plan_required' });
    expect(await rule.authorize(createPrincipal('member', { plan: 'scale' }))).toBeUndefined();
  });

  test('the rule keeps its resource and gets a name of its own', () => {
    expect(rule.resource?.allows(member, { created_by: 'bob' })).toBe(false);
    expect(rule.name).toBe('owner or admin, Scale plan');
  });
});
