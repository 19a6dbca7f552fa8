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
export const DepartmentTaken = problem(
  'department_taken',
  409,
  'There is a department with this name already.',
);
export const DepartmentInUse = problem(
  'department_in_use',
  409,
  'Members are in this department: move them to another one first.',
);
export const AlreadyMember = problem(
  'already_member',
  409,
  'This person is a member of the organization already.',
);
export const InvitationInvalid = problem(
  'invitation_invalid',
  400,
  'This invitation is not valid: it was used, replaced or withdrawn, or it is older than seven days. Ask for a new one.',
);
export const NoSuchDepartment = problem(
  'no_such_department',
  400,
  'There is no department with this name; add it first.',
);
export const WrongPassword = problem('wrong_password', 400, 'The current password is not the right one.');
export const PasswordNeedsSession = problem(
  'password_needs_session',
  403,
  'An API key can neither change nor reset a password: log in.',
);
export const MemberElsewhere = problem(
  'member_elsewhere',
  403,
  'This person is a member of another organization too: only the operator can have the password reset.',
);
export const ResetInvalid = problem(
  'reset_invalid',
  400,
  'This token is not valid: it was used or replaced, or it is older than an hour. Ask for a new one.',
);
export const NoSuchAccount = problem('no_such_account', 400, 'There is no account with this email.');
export const LastAdmin = problem(
  'last_admin',
  409,
  'An organization keeps at least one admin: make another member admin first.',
);
export const ScalePlanRequired = problem('scale_plan_required', 403, 'Webhooks need the Scale plan.');
