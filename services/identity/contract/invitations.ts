/** Operations on invitations: how people join an organization. */
import { z } from 'zod';
import { anyone, id, NotFound, nothing, operation, page } from '#libs/contract';
import { admin } from '../access.ts';
import { AlreadyMember, InvitationInvalid, WrongCredentials } from '../problems.ts';
import { departmentName, email, Invitation, NewInvitation, name, Session } from '../shapes.ts';
import { role } from '../views.ts';

export const createInvitation = operation({
  id: 'createInvitation',
  method: 'post',
  path: '/members/invitations',
  summary: 'Invite a person by email',
  description:
    'The token is in this answer only, and works once within seven days. Inviting again replaces it.',
  access: admin,
  audit: 'invitation.create',
  body: z.strictObject({ email, role: role.default('member'), department: departmentName.nullish() }),
  status: 201,
  returns: NewInvitation,
  secrets: ['token', 'invite_url'],
  problems: [AlreadyMember],
});

export const listInvitations = operation({
  id: 'listInvitations',
  method: 'get',
  path: '/members/invitations',
  summary: 'List the invitations that are open, the newest first',
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
    'A person who has an account gives its password; a new one chooses name and password. Answers like a login. ' +
    'An account under the invited address that is in no organization takes the password given here.',
  access: anyone,
  audit: 'invitation.accept',
  body: z.strictObject({ token: z.string().max(200), name, password: z.string().max(256) }),
  status: 200,
  returns: Session,
  problems: [InvitationInvalid, WrongCredentials],
});
