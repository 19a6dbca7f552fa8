/** Operations on people: oneself and the members of the organization. */
import { z } from 'zod';
import { id, NotFound, nothing, operation, page, patchBody } from '#libs/contract';
import { admin, member } from '../access.ts';
import { LastAdmin, NoSuchDepartment, PasswordNeedsSession, WrongPassword } from '../problems.ts';
import { departmentName, Member, Organization, password, RoleInfo } from '../shapes.ts';
import { role } from '../views.ts';

export const getMe = operation({
  id: 'getMe',
  method: 'get',
  path: '/me',
  summary: 'Who am I',
  access: member,
  status: 200,
  returns: z
    .strictObject({
      user: z.strictObject({ id, name: z.string(), email: z.string() }),
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
  summary: 'List the roles and what each may do',
  access: member,
  status: 200,
  returns: z.array(RoleInfo),
  problems: [],
});

export const listMembers = operation({
  id: 'listMembers',
  method: 'get',
  path: '/members',
  summary: 'List the members of the organization, the longest-standing first',
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
  summary: 'Change role or department of a member',
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
  description: 'Tokens and API keys of that member stop with the next request. What the member wrote stays.',
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
  description: 'All your sessions end with the next request, this one too; API keys stay.',
  access: member,
  permission: 'Any member with an access token; an API key cannot change a password.',
  audit: 'password.update',
  body: z.strictObject({ current_password: z.string().max(256), new_password: password }),
  status: 204,
  returns: nothing,
  problems: [WrongPassword, PasswordNeedsSession],
});
