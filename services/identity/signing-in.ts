/** Signing in: registering, logging in, keeping a session alive, ending it. */
import { InvalidRequest } from '#libs/contract';
import { handle } from '#libs/http';
import {
  logIn,
  logOut,
  OrganizationRequired,
  RefreshTokenInvalid,
  refresh,
  register,
  WrongCredentials,
} from './contract.ts';
import type { RefuseGuessable } from './guessing.ts';
import { hashPassword, isPassword } from './passwords.ts';
import { accountFactor, type Limit, type SignInLimits } from './rules/limits.ts';
import { type PlanTerms, termsOf } from './rules/plans.ts';
import { isReserved, slugFrom } from './rules/slug.ts';
import type { Sessions } from './sessions.ts';
import type { Accounts, Membership } from './store/accounts.ts';
import type { Counted, Limits } from './store/limits.ts';

/** Everything signing in needs. */
export interface SigningIn {
  accounts: Accounts;
  sessions: Sessions;
  refuseGuessable: RefuseGuessable;
  now: () => Date;
  defaultPlan: string;
  terms: PlanTerms;
  limits: Limits;
  /** How often is too often. */
  most: SignInLimits;
}

/** The operations that give and take sessions. */
export function signingIn(of: SigningIn) {
  return [
    handle(register, async ({ body, call }) => {
      if (body.organization_slug !== undefined && isReserved(body.organization_slug)) throw reservedSlug();
      of.refuseGuessable(body.password, [body.email, body.name, body.organization_name], 'body/password');
      await of.limits.take(['registration', call.address], of.most.registrations);
      const passwordHash = await hashPassword(body.password);
      const asked = body.organization_slug !== undefined;
      const membership = await of.accounts.create({
        organizationName: body.organization_name,
        slug: { text: body.organization_slug ?? slugFrom(body.organization_name), asked },
        name: body.name,
        email: body.email,
        passwordHash,
        plan: of.defaultPlan,
        ...termsOf(of.defaultPlan, of.terms),
        at: of.now(),
      });
      return of.sessions.begin(membership);
    }),

    handle(logIn, async ({ body, call }) => {
      const guessing = guessesOf(body.email, call.address, of.most.failures);
      await of.limits.take(['login', call.address], of.most.logins);
      for (const [counted, limit] of guessing) await of.limits.check(counted, limit);
      const user = await of.accounts.userByEmail(body.email);
      const right = await isPassword(body.password, user?.password);
      if (!user || !right) {
        // known or not, an account is counted alike
        for (const [counted, limit] of guessing) await of.limits.take(counted, limit);
        throw WrongCredentials();
      }
      const memberships = await of.accounts.membershipsOf(user);
      return of.sessions.begin(chosen(memberships, body.organization_slug));
    }),

    handle(refresh, async ({ body }) => {
      const renewed = await of.sessions.renew(body.refresh_token);
      if ('refused' in renewed) throw RefreshTokenInvalid();
      return renewed;
    }),

    handle(logOut, async ({ body }) => {
      await of.sessions.end(body.refresh_token);
      return undefined;
    }),
  ];
}

/** What a failed login counts for: the account from this address, and more softly the account from anywhere. */
function guessesOf(email: string, address: string, failures: Limit): [Counted, Limit][] {
  return [
    [['failure', email, address], failures],
    [['failure', email], { ...failures, most: failures.most * accountFactor }],
  ];
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
