/** Signing in: registering, logging in, keeping a session alive, ending it. */
import { InvalidRequest } from '#libs/contract';
import { type AuditDetails, handle } from '#libs/http';
import {
  logIn,
  logOut,
  OrganizationRequired,
  RefreshTokenInvalid,
  refreshSession,
  registerOrganization,
  WrongCredentials,
} from './contract.ts';
import type { WithLoginThrottle } from './login-throttle.ts';
import type { RejectWeakPassword } from './password-strength.ts';
import type { Passwords } from './passwords.ts';
import { hashCredential } from './principal.ts';
import { networkOf, type SignInLimits } from './rules/limits.ts';
import { type PlanTerms, termsOf } from './rules/plans.ts';
import { isReserved, slugFrom } from './rules/slug.ts';
import type { Sessions } from './sessions.ts';
import type { Accounts, Membership } from './store/accounts.ts';
import type { SessionRow } from './store/collections.ts';
import type { Limits } from './store/limits.ts';

/** Everything signing in needs. */
export interface SigningIn {
  accounts: Accounts;
  sessions: Sessions;
  refuseGuessable: RejectWeakPassword;
  passwords: Passwords;
  prove: WithLoginThrottle;
  now: () => Date;
  defaultPlan: string;
  terms: PlanTerms;
  limits: Limits;
  /** How often is too often. */
  most: SignInLimits;
}

/** The operations that give and take sessions. */
export function signingIn({
  limits,
  most,
  refuseGuessable,
  passwords,
  accounts,
  defaultPlan,
  terms,
  now,
  sessions,
  prove,
}: SigningIn) {
  return [
    handle(registerOrganization, async ({ body, call }) => {
      call.audit({ account: accountOf(body.email) });
      if (body.organization_slug !== undefined && isReserved(body.organization_slug)) throw reservedSlug();
      const network = networkOf(call.address);
      await limits.take(['login', network], most.logins);
      refuseGuessable(body.password, [body.email, body.name, body.organization_name], 'body/password');
      await limits.take(['registration', network], most.registrations);
      const passwordHash = await passwords.hash(body.password);
      const asked = body.organization_slug !== undefined;
      const membership = await accounts.create({
        organizationName: body.organization_name,
        slug: { text: body.organization_slug ?? slugFrom(body.organization_name), asked },
        name: body.name,
        email: body.email,
        passwordHash,
        plan: defaultPlan,
        ...termsOf(defaultPlan, terms),
        at: now(),
      });
      call.audit(whoIs(membership));
      return sessions.begin(membership);
    }),

    handle(logIn, async ({ body, call }) => {
      call.audit({ account: accountOf(body.email) });
      await limits.take(['login', networkOf(call.address)], most.logins);
      const user = await prove({ email: body.email, address: call.address }, async () => {
        const found = await accounts.userByEmail(body.email);
        // known or not, an account takes the same work
        return (await passwords.isRight(body.password, found?.password)) ? found : undefined;
      });
      if (!user) throw WrongCredentials();
      call.audit({ actor_id: user._id });
      const memberships = await accounts.membershipsOf(user);
      const membership = chosen(memberships, body.organization_slug);
      call.audit(whoIs(membership));
      return sessions.begin(membership);
    }),

    handle(refreshSession, async ({ body, call }) => {
      const renewed = await sessions.renew(body.refresh_token);
      if (!('refused' in renewed)) {
        call.audit({ actor_id: renewed.member.id, organization_id: renewed.organization.id });
        return renewed;
      }
      const { refused, session } = renewed;
      call.audit({ refused, ...(session && ownerOf(session)) });
      throw RefreshTokenInvalid();
    }),

    handle(logOut, async ({ body, call }) => {
      const ended = await sessions.end(body.refresh_token);
      if (ended) call.audit(ownerOf(ended));
      return undefined;
    }),
  ];
}

/** How the security log calls an account that may not be there: the same email is the same account, and stays unsaid. */
function accountOf(email: string): string {
  return hashCredential(email).slice(0, 16);
}

function whoIs({ user, organization }: Membership): AuditDetails {
  return { actor_id: user._id, organization_id: organization._id };
}

function ownerOf({ user_id, organization_id }: SessionRow): AuditDetails {
  return { actor_id: user_id, organization_id };
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
