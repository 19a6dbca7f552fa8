/** Sessions: the tokens that a person gets after proving who they are. */
import { randomBytes } from 'node:crypto';
import type { z } from 'zod';
import { memberOf, organizationOf } from './presenting.ts';
import { hashOf } from './principal.ts';
import type { Session } from './shapes.ts';
import type { Signing } from './signing-keys.ts';
import type { Membership } from './store/accounts.ts';
import type { Credentials } from './store/credentials.ts';

const sessionDays = 30;

/** Makes the next tokens of a session; `family` names the session through all its refreshes. */
export type NewSession = (membership: Membership, family: string) => Promise<z.infer<typeof Session>>;

/** A maker of sessions. */
export function sessionMaker(of: {
  credentials: Credentials;
  signing: Signing;
  now: () => Date;
  accessTokenSeconds: number;
}): NewSession {
  return async ({ user, member, organization }, family) => {
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
      access_token: await of.signing.token(organization._id, user._id),
      refresh_token,
      token_type: 'Bearer',
      expires_in: of.accessTokenSeconds,
      member: memberOf(user, member),
      organization: organizationOf(organization),
    };
  };
}
