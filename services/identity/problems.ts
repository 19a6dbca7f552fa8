/** The problems that operations of identity respond with. */
import { InvalidRequest, listErrors, problem } from '#libs/contract';

export const EmailTaken = problem(
  'email_taken',
  409,
  'An account with this email already exists: log in instead.',
);
export const RegistrationClosed = problem(
  'registration_closed',
  403,
  'Registration is closed: ask the operator of this installation for an invitation.',
);
export const SlugTaken = problem(
  'slug_taken',
  409,
  'Another organization uses this slug: choose another one.',
);
export const WrongCredentials = problem('wrong_credentials', 401, 'The email or the password is wrong.');
export const RefreshTokenInvalid = problem(
  'refresh_token_invalid',
  401,
  'This refresh token is no longer valid: log in again.',
);
export const OrganizationRequired = problem(
  'organization_required',
  400,
  'You are a member of several organizations: name one of them in `organization_slug`.',
);
export const RoleTooHigh = problem(
  'role_too_high',
  403,
  'An API key cannot have a higher role than its creator.',
);
export const DepartmentTaken = problem(
  'department_taken',
  409,
  'A department with this name already exists: choose another name.',
);
export const DepartmentInUse = problem(
  'department_in_use',
  409,
  'This department still has members: move them to another department first.',
);
export const AlreadyMember = problem(
  'already_member',
  409,
  'This person is already a member of the organization.',
);
export const InvitationInvalid = problem(
  'invitation_invalid',
  400,
  'This invitation is not valid: it was used, replaced or withdrawn, or is older than seven days. Ask for a new one.',
);
export const NoSuchDepartment = problem(
  'no_such_department',
  400,
  'No department has this name: create the department first.',
);
export const WrongPassword = problem('wrong_password', 400, 'The current password is wrong.');
export const PasswordNeedsSession = problem(
  'password_needs_session',
  403,
  'An API key cannot change or reset a password: log in and use an access token.',
);
export const PersonRequired = problem(
  'person_required',
  403,
  'Only a person may do this: log in and use an access token, not an API key.',
);
export const MemberElsewhere = problem(
  'member_elsewhere',
  403,
  'This user also belongs to another organization, so only the operator can reset the password.',
);
export const ResetInvalid = problem(
  'reset_invalid',
  400,
  'This token is not valid: it was used or replaced, or is older than one hour. Ask for a new one.',
);
export const NoSuchAccount = problem('no_such_account', 400, 'No account has this email.');
export const LastAdmin = problem(
  'last_admin',
  409,
  'An organization needs at least one admin: make another member an admin first.',
);
export const StorageQuotaExhausted = problem(
  'storage_quota_exhausted',
  402,
  'A storage limit of the plan is reached.',
);
export const ScalePlanRequired = problem('scale_plan_required', 403, 'Webhooks require the Scale plan.');

/** Creates the problem of a slug that no organization may have. `path` names its place in the request. */
export function reservedSlugError(path: string) {
  return listErrors(InvalidRequest, [{ path, message: 'This slug is reserved' }]);
}
