/** Signing in: registering, logging in, keeping a session alive, ending it. */
import { randomBytes } from 'node:crypto';
import type { z } from 'zod';
import { InvalidRequest, newId } from '#libs/contract';
import { handle } from '#libs/http';
import {
  logIn,
  logOut,
  OrganizationRequired,
  RefreshTokenInvalid,
  refresh,
  register,
  type Session,
  WrongCredentials,
} from './contract.ts';
import { hashPassword, isPassword } from './passwords.ts';
import { memberOf, organizationOf } from './presenting.ts';
import { hashOf } from './principal.ts';
import { type PlanTerms, termsOf } from './rules/plans.ts';
import { isReserved, slugFrom } from './rules/slug.ts';
import type { Signing } from './signing-keys.ts';
import type { Accounts, Membership } from './store/accounts.ts';
import type { Credentials } from './store/credentials.ts';

const sessionDays = 30;

/** Everything signing in needs. */
export interface SigningIn {
  accounts: Accounts;
  credentials: Credentials;
  signing: Signing;
  now: () => Date;
  defaultPlan: string;
  plans: PlanTerms;
  accessTokenSeconds: number;
}

/** The operations that give and take sessions. */
export function signingIn(of: SigningIn) {
  return [
    handle(register, async ({ body }) => {
      if (body.organization_slug !== undefined && isReserved(body.organization_slug)) throw reservedSlug();
      const passwordHash = await hashPassword(body.password);
      const asked = body.organization_slug !== undefined;
      const membership = await of.accounts.create({
        organizationName: body.organization_name,
        slug: { text: body.organization_slug ?? slugFrom(body.organization_name), asked },
        name: body.name,
        email: body.email,
        passwordHash,
        plan: of.defaultPlan,
        ...termsOf(of.defaultPlan, of.plans),
        at: of.now(),
      });
      return sessionFor(membership, newId());
    }),

    handle(logIn, async ({ body }) => {
      const user = await of.accounts.userByEmail(body.email);
      const right = await isPassword(body.password, user?.password);
      if (!user || !right) throw WrongCredentials();
      const memberships = await of.accounts.membershipsOf(user);
      return sessionFor(chosen(memberships, body.organization_slug), newId());
    }),

    handle(refresh, async ({ body }) => {
      const session = await of.credentials.spend(hashOf(body.refresh_token), of.now());
      if (session === 'unknown' || session === 'reused') throw RefreshTokenInvalid();
      const membership = await of.accounts.membership(session.organization_id, session.user_id);
      if (!membership) throw RefreshTokenInvalid();
      return sessionFor(membership, session.family);
    }),

    handle(logOut, async ({ body }) => {
      await of.credentials.end(hashOf(body.refresh_token));
      return undefined;
    }),
  ];

  async function sessionFor(
    { user, member, organization }: Membership,
    family: string,
  ): Promise<z.infer<typeof Session>> {
    const refresh_token = randomBytes(32).toString('base64url');
    await of.credentials.keepSession({
      _id: hashOf(refresh_token),
      family,
      organization_id: organization._id,
      user_id: user._id,
      used: false,
      expires_at: new Date(of.now().getTime() + sessionDays * 86_400_000),
    });
    return {
      access_token: of.signing.token(organization._id, user._id),
      refresh_token,
      token_type: 'Bearer',
      expires_in: of.accessTokenSeconds,
      member: memberOf(user, member),
      organization: organizationOf(organization),
    };
  }
}

/** The membership that a login means; told apart by slug when a person has several. */
function chosen(memberships: Membership[], slug: string | undefined): Membership {
  const fitting =
    slug === undefined ? memberships : memberships.filter(({ organization }) => organization.slug === slug);
  const [first, second] = fitting;
  if (!first) throw WrongCredentials();
  if (!second) return first;
  const organizations = fitting.map(({ organization }) => ({
    slug: organization.slug,
    name: organization.name,
  }));
  throw OrganizationRequired(undefined, { extra: { organizations } });
}

function reservedSlug() {
  return InvalidRequest(undefined, {
    extra: { errors: [{ path: 'body/organization_slug', message: 'This slug is reserved' }] },
  });
}
