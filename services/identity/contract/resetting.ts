/**
 * The operations on password resets. An admin or the operator creates a single-use token and passes it to the
 * user.
 */
import { z } from 'zod';
import { anyone, id, NotFound, nothing, operation, text, timestamp } from '#libs/contract';
import { operator, sessionAdmin } from '../access.ts';
import { MemberElsewhere, NoSuchAccount, ResetInvalid } from '../problems.ts';
import { email, password, slug } from '../shapes.ts';

const NewPasswordReset = z
  .strictObject({
    token: z.string().nullable().meta({ description: 'Shown only once; works once, within one hour' }),
    reset_url: z
      .string()
      .nullable()
      .meta({ description: 'Shown only once; the page of your application that asks for the new password' }),
    expires_at: timestamp,
  })
  .meta({ id: 'NewPasswordReset' });

export const createPasswordReset = operation({
  id: 'createPasswordReset',
  method: 'post',
  path: '/members/{member_id}/password-reset',
  summary: 'Create a token with which a member sets a new password',
  description:
    'Only for a member who is in no other organization. Pass the token on through a channel that you trust. ' +
    'The old password and all sessions stay valid until the token is used. A new token replaces an older one.',
  access: sessionAdmin,
  audit: 'password_reset.create',
  params: z.object({ member_id: id }),
  status: 201,
  returns: NewPasswordReset,
  secrets: ['token', 'reset_url'],
  problems: [NotFound, MemberElsewhere],
});

export const resetPassword = operation({
  id: 'resetPassword',
  method: 'post',
  path: '/auth/reset-password',
  summary: 'Set a new password with a token',
  description: 'All sessions of the user end with the next request. API keys stay valid. Log in afterwards.',
  access: anyone,
  audit: 'password_reset.complete',
  body: z.strictObject({ token: text(200), password }),
  status: 204,
  returns: nothing,
  problems: [ResetInvalid],
});

export const resetAccountPassword = operation({
  id: 'resetAccountPassword',
  method: 'post',
  at: 'root',
  path: '/ops/password-resets',
  summary: 'Create a token with which a user of any number of organizations sets a new password',
  description:
    '`organization_slug` selects an account by one of its organizations. Only an account that lost its email to another ' +
    'one needs it.',
  access: operator,
  audit: 'password_reset.create',
  body: z.strictObject({ email, organization_slug: slug.optional() }),
  status: 201,
  returns: NewPasswordReset,
  secrets: ['token', 'reset_url'],
  problems: [NoSuchAccount],
});
