/** What can keep somebody from an account, a key or a feature. */
import { problem } from '#libs/contract';

export const EmailTaken = problem(
  'email_taken',
  409,
  'There is an account with this email already: log in instead.',
);
export const SlugTaken = problem(
  'slug_taken',
  409,
  'Another organization has this slug: choose another one.',
);
export const WrongCredentials = problem('wrong_credentials', 401, 'Email or password is wrong.');
export const RefreshTokenInvalid = problem(
  'refresh_token_invalid',
  401,
  'This refresh token is not valid any more: log in again.',
);
export const OrganizationRequired = problem(
  'organization_required',
  400,
  'You are a member of several organizations: name one of them in `organization_slug`.',
);
export const RoleTooHigh = problem('role_too_high', 403, 'A key cannot have a higher role than its maker.');
export const LastAdmin = problem(
  'last_admin',
  409,
  'An organization keeps at least one admin: make another member admin first.',
);
export const ScalePlanRequired = problem('scale_plan_required', 403, 'Webhooks need the Scale plan.');
