/** The operations on invitations, with which people join an organization. */
import { z } from 'zod';
import { anyone, id, NotFound, nothing, operation, page, text } from '#libs/contract';
import { admin, operator } from '../access.ts';
import {
  AlreadyMember,
  InvitationInvalid,
  NoSuchDepartment,
  StorageQuotaExhausted,
  WrongCredentials,
} from '../problems.ts';
import {
  AcceptedInvitation,
  departmentName,
  email,
  Invitation,
  maxPasswordBodyBytes,
  NewInvitation,
  name,
  role,
} from '../shapes.ts';

export const createInvitation = operation({
  id: 'createInvitation',
  method: 'post',
  path: '/members/invitations',
  summary: 'Invite a person by email',
  description:
    'Only this response contains the token. It works once, within seven days. A new invitation for the same email replaces it.',
  access: admin,
  audit: 'invitation.create',
  body: z.strictObject({ email, role: role.default('member'), department: departmentName.nullish() }),
  status: 201,
  returns: NewInvitation,
  secrets: ['token', 'invite_url'],
  problems: [AlreadyMember, NoSuchDepartment, StorageQuotaExhausted],
});

export const inviteToOrganization = operation({
  id: 'inviteToOrganization',
  method: 'post',
  at: 'root',
  path: '/ops/organizations/{organization_id}/invitations',
  summary: 'Invite a person to any organization',
  description: 'For the first admin of an organization, or for one whose admins have all lost their access.',
  access: operator,
  audit: 'invitation.create',
  params: z.object({ organization_id: id }),
  body: z.strictObject({ email, role: role.default('admin') }),
  status: 201,
  returns: NewInvitation,
  secrets: ['token', 'invite_url'],
  problems: [NotFound, AlreadyMember],
});

export const listInvitations = operation({
  id: 'listInvitations',
  method: 'get',
  path: '/members/invitations',
  summary: 'List open invitations, newest first',
  access: admin,
  query: z.object(page),
  status: 200,
  returns: z.array(Invitation),
  paged: true,
  problems: [],
});

export const deleteInvitation = operation({
  id: 'deleteInvitation',
  method: 'delete',
  path: '/members/invitations/{invitation_id}',
  summary: 'Withdraw an invitation',
  access: admin,
  audit: 'invitation.withdraw',
  params: z.object({ invitation_id: id }),
  status: 204,
  returns: nothing,
  problems: [NotFound],
});

export const acceptInvitation = operation({
  id: 'acceptInvitation',
  method: 'post',
  path: '/members/invitations/accept',
  summary: 'Accept an invitation',
  description:
    'Send the password of your account if you have one; otherwise choose a name and a password. ' +
    'The response is that of a login. ' +
    'An account with the invited email that is in no organization gets the name and password sent here. ' +
    'If somebody else has registered the email, and no invitation has confirmed it, `replace_account` gives the email ' +
    'to your new account. The other account keeps its organization.',
  access: anyone,
  audit: 'invitation.accept',
  body: z.strictObject({
    token: text(200),
    name,
    password: text(256),
    replace_account: z
      .boolean()
      .default(false)
      .meta({ description: 'Create a new account even if an account with the unconfirmed email exists' }),
  }),
  maxBodyBytes: maxPasswordBodyBytes,
  status: 200,
  returns: AcceptedInvitation,
  problems: [InvitationInvalid, WrongCredentials],
});
