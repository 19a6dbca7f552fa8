/** Access rules: who may call an operation. The operations of all services use these values. */
import { type Access, access, Forbidden, NotFound, type ResourceRule } from '#libs/contract';
import type { Principal } from '#libs/http';
import { PasswordNeedsSession, PersonRequired, ScalePlanRequired } from './problems.ts';
import type { Role } from './shapes.ts';

/** A member who is authenticated by an access token or by one of their API keys. */
export interface MemberPrincipal extends Principal {
  /** The member's role; with an API key the lower of the member's and the key's role. */
  readonly role: Role;
  /** Reads the organization's current plan. */
  plan(): Promise<string | undefined>;
}

/** Any member of an organization, with an access token or an API key. */
export const member = access<MemberPrincipal>({
  name: 'member',
  description: 'Any member of the organization.',
  authorize: () => undefined,
});

/** A member in person: with an access token, not with an API key. */
export const person = access<MemberPrincipal>({
  name: 'member, in person',
  description: 'Any member with an access token. API keys are not accepted.',
  problems: [PersonRequired],
  authorize: ({ key_id }) => (key_id === null ? undefined : PersonRequired()),
});

/** An admin of the organization. */
export const admin = access<MemberPrincipal>({
  name: 'admin',
  description: 'Admins of the organization.',
  problems: [Forbidden],
  authorize: (principal) =>
    isAdmin(principal) ? undefined : Forbidden('Only admins of the organization may do this.'),
});

/** The operator of the installation, who authenticates with `OPS_TOKEN` on the management port. */
export const operator = access<Principal>({
  name: 'operator',
  description: 'The operator of the installation.',
  authorize: () => undefined,
});

/** A member for their own items only. The stores find no others. */
export const self: typeof member = {
  ...member,
  name: 'member (own)',
  description: 'Any member, for their own items.',
};

/** The rule for the account of a member: only a caller with an access token may change its password. */
const accountRule: ResourceRule<MemberPrincipal, unknown> = {
  allows: ({ key_id }) => key_id === null,
  deny: PasswordNeedsSession,
};

/** A member with an access token. */
export const sessionMember: Access<MemberPrincipal, unknown> = {
  ...member,
  name: 'member, logged in',
  description: 'Any member with an access token. API keys are not accepted.',
  problems: [PasswordNeedsSession],
  resource: accountRule,
};

/** An admin with an access token. */
export const sessionAdmin: Access<MemberPrincipal, unknown> = {
  ...admin,
  name: 'admin, logged in',
  description: 'Admins of the organization with an access token. API keys are not accepted.',
  problems: [Forbidden, PasswordNeedsSession],
  resource: accountRule,
};

/** A resource of one member. */
export interface PersonalResource {
  readonly user_id: string;
}

/** A list in which members find their own items and admins the items of all members. */
export const ownItemsOrAll: typeof member = {
  ...member,
  name: 'member (own), admin (all)',
  description: 'Members see their own items; admins see the items of all members.',
};

/** Returns the user whose items the principal finds in such a list; undefined for the items of all members. */
export function getVisibleUser(principal: MemberPrincipal): string | undefined {
  return isAdmin(principal) ? undefined : principal.user_id;
}

/** The member whom the resource belongs to, and admins. Nobody else may know that it exists. */
export const selfOrAdmin: Access<MemberPrincipal, PersonalResource> = {
  ...ownItemsOrAll,
  description: 'The member whom it belongs to, or an admin. Nobody else finds it.',
  problems: [NotFound],
  resource: {
    allows: (principal, { user_id }) => isAdmin(principal) || user_id === principal.user_id,
    deny: NotFound,
  },
};

/** A resource with the member who created it. */
export interface OwnedResource {
  readonly created_by: string;
}

/**
 * The member who created the resource, and admins. `action` completes the sentence "The owner or an admin may
 * …", e.g. `publish this document`; `owner` replaces the word "owner".
 */
export function ownerOrAdmin(action: string, owner = 'owner'): Access<MemberPrincipal, OwnedResource> {
  return {
    ...member,
    name: 'owner or admin',
    description: `The ${owner} or an admin may ${action}.`,
    problems: [Forbidden],
    resource: {
      allows: isOwnerOrAdmin,
      deny: () => Forbidden(`Only the ${owner} or an admin may ${action}.`),
    },
  };
}

/** Returns whether the principal is an admin or created the resource. */
export function isOwnerOrAdmin(principal: MemberPrincipal, { created_by }: OwnedResource): boolean {
  return isAdmin(principal) || created_by === principal.user_id;
}

/** Adds to an access rule that the organization must be on the Scale plan. */
export function onScalePlan<Resource>(
  rule: Access<MemberPrincipal, Resource>,
): Access<MemberPrincipal, Resource> {
  return {
    ...rule,
    name: `${rule.name}, Scale plan`,
    description: `${rule.description} The organization needs the Scale plan.`,
    problems: [...(rule.problems ?? []), ScalePlanRequired],
    authorize: async (principal) =>
      (await rule.authorize(principal)) ??
      ((await principal.plan()) === 'scale' ? undefined : ScalePlanRequired()),
  };
}

function isAdmin({ role }: MemberPrincipal): boolean {
  return role === 'admin';
}
