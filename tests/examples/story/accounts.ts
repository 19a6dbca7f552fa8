/** The part of the story about people: register, log in, invite a colleague, set up the organization. */
import { must, until } from '#libs/testing';
import type { Recorder } from '../recorder.ts';

/** The people of the story. */
export interface Accounts {
  /** Access token of the admin. */
  admin: string;
  /** API key of the admin. */
  key: string;
  /** Access token and id of the colleague. */
  colleague: string;
  colleagueId: string;
  departmentId: string;
}

const email = 'ada@acme-foods.example';
const password = 'quiet meadow lantern 7';
const newPassword = 'amber harbour violin 12';

/** The admin registers the organization and creates an API key. */
export async function register({ example }: Recorder): Promise<{ admin: string; key: string }> {
  const first = await example('registerOrganization', {
    body: {
      organization_name: 'Acme Foods',
      organization_slug: 'acme-foods',
      name: 'Ada Example',
      email,
      password,
    },
  });
  const { refresh_token } = await example('logIn', { body: { email, password } });
  await example('refreshSession', { body: { refresh_token } });
  await example('getSigningKeys');
  const admin = first.access_token;
  await example('getMe', { as: admin });
  const { key } = await example('createApiKey', { as: admin, body: { name: 'Wiki', role: 'admin' } });
  await example('listApiKeys', { as: admin, query: { limit: 20 } });
  return { admin, key };
}

/** The start page and the reference. */
export async function readReference({ example }: Recorder): Promise<void> {
  for (const accept of ['application/json', 'text/html']) {
    await example('getStartPage', { accept });
    await example('getApiStartPage', { accept });
  }
  await example('getReferencePage');
  for (const file of ['swagger-ui-bundle.js', 'swagger-ui.css'])
    await example('getReferenceAsset', { params: { file } });
  await example('getOpenApi', {
    shorten: ({ openapi, info: { title, version }, servers }) => ({
      openapi,
      info: { title, version },
      servers,
    }),
  });
}

/** The admin sets up the organization. */
export async function setUpOrganization({ example }: Recorder, as: string): Promise<string> {
  await example('getOrganization', { as });
  const settings = { language: 'en', embed_origins: ['https://intranet.acme-foods.example'] };
  await example('updateOrganization', { as, body: { name: 'Acme Foods', settings } });
  const { id } = await example('createDepartment', { as, body: { name: 'Operations' } });
  await example('updateDepartment', {
    as,
    params: { department_id: id },
    body: { name: 'Store operations' },
  });
  await example('listDepartments', { as });
  return id;
}

/** The admin invites two people, of whom one joins and then forgets the password. */
export async function invite(recorder: Recorder, accounts: { admin: string }) {
  const { example, prepare } = recorder;
  const as = accounts.admin;
  const { token } = await example('createInvitation', {
    as,
    body: { email: 'ben@acme-foods.example', role: 'member', department: 'Store operations' },
  });
  await example('listInvitations', { as });
  const joined = await example('acceptInvitation', {
    body: { token, name: 'Ben Example', password: 'copper orchard window 3' },
  });
  const colleagueId: string = joined.member.id;
  const reset = await example('createPasswordReset', { as, params: { member_id: colleagueId } });
  await example('resetPassword', { body: { token: reset.token, password: newPassword } });
  const login = await prepare(as, 'POST', '/auth/login', {
    email: 'ben@acme-foods.example',
    password: newPassword,
  });
  await example('listMembers', { as });
  await example('listRoles', { as });
  const withdrawn = await prepare(as, 'POST', '/members/invitations', { email: 'eve@acme-foods.example' });
  await example('deleteInvitation', { as, params: { invitation_id: withdrawn.id } });
  await example('updateMember', { as, params: { member_id: colleagueId }, body: { role: 'member' } });
  return { colleague: String(login.access_token), colleagueId };
}

/** The admin looks up who published, and exports the log. */
export async function readAuditLog({ app, example }: Recorder, { admin: as }: Accounts): Promise<void> {
  await until('the entry about the publication', async () => {
    const entries = await must(app, 'GET', '/audit-log?action=document.published', { as });
    return entries.length > 0;
  });
  await example('listAuditLog', {
    ...{ as, query: { action: ['document.published'], limit: 20 } },
    // events of several services arrive in any order
    shorten: ([entry]) => [{ ...entry, seq: 12 }],
  });
  await example('exportAuditLog', { as, query: { format: 'jsonl' } });
  await example('exportAuditLog', { as, query: { format: 'csv' } });
}

/** The organization is cleaned up, and the admin logs out. */
export async function leave({ example, prepare }: Recorder, accounts: Accounts): Promise<void> {
  const { admin, key, colleagueId, departmentId } = accounts;
  await example('getSubscription', { as: key });
  await example('deleteMember', { as: key, params: { member_id: colleagueId } });
  await example('deleteDepartment', { as: key, params: { department_id: departmentId } });
  const old = await prepare(admin, 'POST', '/api-keys', { name: 'Old wiki' });
  await example('deleteApiKey', { as: admin, params: { key_id: old.id } });
  await example('deleteOwnApiKeys', { as: admin });
  await example('updatePassword', {
    as: admin,
    body: { current_password: password, new_password: newPassword },
  });
  const { refresh_token } = await prepare(admin, 'POST', '/auth/login', { email, password: newPassword });
  await example('logOut', { body: { refresh_token } });
}
