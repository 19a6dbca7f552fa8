/** The operations on people: the caller and the members of the organization. */
import { z } from 'zod';
import { id, NotFound, nothing, operation, page, patchBody, text } from '#libs/contract';
import { admin, member, sessionMember } from '../access.ts';
import { LastAdmin, NoSuchDepartment, WrongPassword } from '../problems.ts';
import {
  departmentName,
  Member,
  maxPasswordBodyBytes,
  Organization,
  password,
  RoleInfo,
  role,
} from '../shapes.ts';

export const getMe = operation({
  id: 'getMe',
  method: 'get',
  path: '/me',
  summary: 'Get your user, membership and organization',
  access: member,
  status: 200,
  returns: z
    .strictObject({
      user: z.strictObject({ id, name: z.string(), email: z.string() }).meta({ id: 'User' }),
      member: Member,
      organization: Organization,
    })
    .meta({ id: 'Me' }),
  problems: [],
});

export const listRoles = operation({
  id: 'listRoles',
  method: 'get',
  path: '/roles',
  summary: 'List the roles with their permissions',
  access: member,
  status: 200,
  returns: z.array(RoleInfo),
  problems: [],
});

export const listMembers = operation({
  id: 'listMembers',
  method: 'get',
  path: '/members',
  summary: 'List the members of the organization, oldest account first',
  access: member,
  query: z.object(page),
  status: 200,
  returns: z.array(Member),
  paged: true,
  problems: [],
});

export const updateMember = operation({
  id: 'updateMember',
  method: 'patch',
  path: '/members/{member_id}',
  summary: 'Update the role or department of a member',
  access: admin,
  audit: 'member.update',
  params: z.object({ member_id: id }),
  body: patchBody({ role, department: departmentName.nullable() }),
  status: 200,
  returns: Member,
  problems: [NotFound, LastAdmin, NoSuchDepartment],
});

export const deleteMember = operation({
  id: 'deleteMember',
  method: 'delete',
  path: '/members/{member_id}',
  summary: 'Remove a member from the organization',
  description:
    'Access tokens and API keys of the member stop working with the next request. Documents of the member stay.',
  access: admin,
  audit: 'member.remove',
  params: z.object({ member_id: id }),
  status: 204,
  returns: nothing,
  problems: [NotFound, LastAdmin],
});

export const updatePassword = operation({
  id: 'updatePassword',
  method: 'post',
  path: '/me/password',
  summary: 'Change your password',
  description: 'All your sessions end with the next request, including this one. API keys stay valid.',
  access: sessionMember,
  audit: 'password.update',
  body: z.strictObject({ current_password: text(256), new_password: password }),
  maxBodyBytes: maxPasswordBodyBytes,
  status: 204,
  returns: nothing,
  problems: [WrongPassword],
});
