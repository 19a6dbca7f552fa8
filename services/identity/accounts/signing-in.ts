/** Signing in: registers organizations, logs users in, refreshes sessions and logs users out. */
import { newId } from '#libs/contract';
import { type AuditDetails, handle } from '#libs/http';
import type { PasswordHasher } from '#libs/workers';
import {
  logIn,
  logOut,
  OrganizationRequired,
  RefreshTokenInvalid,
  RegistrationClosed,
  refreshSession,
  registerOrganization,
  reservedSlugError,
  WrongCredentials,
} from '../contract.ts';
import { hashCredential } from '../principal.ts';
import { getPlanTerms, type PlanLimits, type PlanName } from '../rules/plans.ts';
import type { SignInLimits } from '../rules/rate-limit.ts';
import { isReserved, toSlug } from '../rules/slug.ts';
import { isUsualNetwork } from '../rules/usual-networks.ts';
import type { AccountRepository, Membership } from '../store/accounts.ts';
import type { SessionRow, UserRow } from '../store/collections.ts';
import type { RateLimiter } from '../store/rate-limiter.ts';
import type { WithLoginThrottle } from './login-throttle.ts';
import type { RejectWeakPassword } from './password-strength.ts';
import type { Sessions } from './sessions.ts';

/** What the operations of signing in need. */
export interface SignInOptions {
  accounts: AccountRepository;
  sessions: Sessions;
  rejectWeakPassword: RejectWeakPassword;
  passwords: PasswordHasher;
  withLoginThrottle: WithLoginThrottle;
  now: () => Date;
  isRegistrationOpen: boolean;
  defaultPlan: PlanName;
  planLimits: PlanLimits;
  rateLimiter: RateLimiter;
  rateLimits: SignInLimits;
}

/** Handlers of the operations that start, refresh and end sessions. */
export function signInHandlers({
  rateLimiter,
  rateLimits,
  rejectWeakPassword,
  passwords,
  accounts,
  defaultPlan,
  planLimits,
  now,
  isRegistrationOpen,
  sessions,
  withLoginThrottle,
}: SignInOptions) {
  const { logins } = rateLimits;
  return [
    handle(
      registerOrganization,
      async ({ body, call }) => {
        call.audit({ account: hashAccount(body.email) });
        if (!isRegistrationOpen) throw RegistrationClosed();
        if (body.organization_slug !== undefined && isReserved(body.organization_slug))
          throw reservedSlugError('body/organization_slug');
        await rejectWeakPassword(
          body.password,
          [body.email, body.name, body.organization_name],
          'body/password',
        );
        await rateLimiter.consume(['registration'], rateLimits.registrations, call);
        const passwordHash = await passwords.hash(body.password);
        const { organization_name: organizationName, organization_slug: slug, name, email } = body;
        const account = {
          organization: {
            ...{ id: newId(), name: organizationName, slug: slug ?? toSlug(organizationName) },
            ...{ plan: defaultPlan, ...getPlanTerms(defaultPlan, planLimits) },
            at: now(),
          },
          isSlugRequested: slug !== undefined,
          ...{ name, email, passwordHash, address: call.address },
        };
        const session = await accounts.create(account, sessions.start);
        call.audit({ actor_id: session.member.id, organization_id: session.organization.id });
        return session;
      },
      { beforeBody: ({ call }) => rateLimiter.consume(['login'], logins, call) },
    ),

    handle(
      logIn,
      async ({ body, call }) => {
        call.audit({ account: hashAccount(body.email) });
        const { email } = body;
        const { address } = call;
        const found = await accounts.findUsersByEmail(email);
        const isUsual = found.some((user) => isUsualNetwork(user, address, now()));
        // the account decides whether the larger networks count, and the smallest one was counted before the body
        if (!isUsual) await rateLimiter.consume(['login'], logins, { address, only: 'larger' });
        const users = await withLoginThrottle({ email, address, isUsual }, () =>
          findByPassword(found, body.password),
        );
        if (!users) throw WrongCredentials();
        call.audit({ actor_id: users[0]._id });
        const memberships = (await Promise.all(users.map(accounts.listMemberships))).flat();
        const membership = chooseMembership(memberships, body.organization_slug);
        call.audit(toActorDetails(membership));
        await accounts.recordNetwork(membership.user, address, now());
        return sessions.start(membership);
      },
      {
        beforeBody: ({ call: { address } }) =>
          rateLimiter.consume(['login'], logins, { address, only: 'smallest' }),
      },
    ),

    handle(refreshSession, async ({ body, call }) => {
      const result = await sessions.refresh(body.refresh_token);
      if (!('rejectReason' in result)) {
        call.audit({ actor_id: result.member.id, organization_id: result.organization.id });
        return result;
      }
      const { rejectReason, session } = result;
      call.audit({ refused: rejectReason, ...(session && toOwnerDetails(session)) });
      throw RefreshTokenInvalid();
    }),

    handle(logOut, async ({ body, call }) => {
      const session = await sessions.end(body.refresh_token);
      if (session) call.audit(toOwnerDetails(session));
      return undefined;
    }),
  ];

  /** The accounts with this password: one, or also the account that it replaced. Undefined if there is none. */
  async function findByPassword(
    users: readonly UserRow[],
    password: string,
  ): Promise<[UserRow, ...UserRow[]] | undefined> {
    const matching: UserRow[] = [];
    // an unknown account takes as long as a known one, so that timing does not reveal which emails exist
    if (users.length === 0) await passwords.verify(password, undefined);
    for (const user of users) if (await passwords.verify(password, user.password)) matching.push(user);
    const [first, ...others] = matching;
    return first && [first, ...others];
  }
}

/**
 * The account in the security log: a hash of the email. Lines about one account can be correlated, and the
 * log neither contains the email nor reveals whether the account exists.
 */
function hashAccount(email: string): string {
  return hashCredential(email).slice(0, 16);
}

function toActorDetails({ user, organization }: Membership): AuditDetails {
  return { actor_id: user._id, organization_id: organization._id };
}

function toOwnerDetails({ user_id, organization_id }: SessionRow): AuditDetails {
  return { actor_id: user_id, organization_id };
}

/** The membership to log in to. A user with several memberships names one by the slug of its organization. */
function chooseMembership(memberships: Membership[], slug: string | undefined): Membership {
  const matching =
    slug === undefined ? memberships : memberships.filter(({ organization }) => organization.slug === slug);
  const [first, second] = matching;
  if (!first) throw WrongCredentials();
  if (!second) return first;
  const organizations = matching.map(({ organization }) => ({
    slug: organization.slug,
    name: organization.name,
  }));
  throw OrganizationRequired(undefined, { extra: { organizations } });
}
