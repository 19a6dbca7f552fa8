/** Operations for people who forgot their password: a token that somebody else hands to them, once. */
import { z } from 'zod';
import { anyone, Forbidden, id, NotFound, nothing, operation, timestamp } from '#libs/contract';
import { admin, operator } from '../access.ts';
import { MemberElsewhere, NoSuchAccount, PasswordNeedsSession, ResetInvalid } from '../problems.ts';
import { email, password } from '../shapes.ts';

const NewPasswordReset = z
  .strictObject({
    token: z.string().nullable().meta({ description: 'Shown once; works once within an hour' }),
    reset_url: z
      .string()
      .nullable()
      .meta({ description: 'Shown once; the page of your application that takes the new password' }),
    expires_at: timestamp,
  })
  .meta({ id: 'NewPasswordReset' });

export const createPasswordReset = operation({
  id: 'createPasswordReset',
  method: 'post',
  path: '/members/{member_id}/password-reset',
  summary: 'Make a token with which a member sets a new password',
  description:
    'For a person who is in no other organization; hand the token over in a way that you trust. The old password and all ' +
    'sessions stay until it is used. Making another one replaces it.',
  access: admin,
  audit: 'password_reset.create',
  params: z.object({ member_id: id }),
  status: 201,
  returns: NewPasswordReset,
  secrets: ['token', 'reset_url'],
  problems: [NotFound, Forbidden, MemberElsewhere, PasswordNeedsSession],
});

export const resetPassword = operation({
  id: 'resetPassword',
  method: 'post',
  path: '/auth/reset-password',
  summary: 'Set a new password with a token',
  description: 'All sessions of the person end with the next request; API keys stay. Log in afterwards.',
  access: anyone,
  audit: 'password_reset.complete',
  body: z.strictObject({ token: z.string().max(200), password }),
  status: 204,
  returns: nothing,
  problems: [ResetInvalid],
});

export const resetAccountPassword = operation({
  id: 'resetAccountPassword',
  method: 'post',
  at: 'root',
  path: '/ops/password-resets',
  summary: 'Make a token with which a person sets a new password, in however many organizations they are',
  access: operator,
  audit: 'password_reset.create',
  body: z.strictObject({ email }),
  status: 201,
  returns: NewPasswordReset,
  secrets: ['token', 'reset_url'],
  problems: [NoSuchAccount],
});
