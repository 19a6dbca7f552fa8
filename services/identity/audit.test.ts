/** The security log over HTTP: the lines of each request, as docs/security-log.md describes them. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import {
  addMember,
  auditRecorder,
  documentedEvents,
  noActor,
  recordedEvents,
  register,
  sortByEvent,
  type TestApp,
  testApp,
} from '#libs/testing';
import { contracts } from '../contracts.ts';
import { identity } from '../testing/services.ts';

let app: TestApp;
let log: ReturnType<typeof auditRecorder>;

beforeAll(async () => {
  const environment = { TRUSTED_PROXIES: '127.0.0.0/8' };
  app = await testApp({ services: [identity], contracts, environment });
  log = auditRecorder(app, identity.contract);
});
afterAll(() => app?.stop());

const request = (...args: Parameters<typeof log.request>) => log.request(...args);
const password = 'correct horse battery staple';

/** Registers a user. */
async function registerAda() {
  const { userId, organizationId, ...person } = await register(app);
  const actor = { actor_id: userId, organization_id: organizationId, key_id: null };
  return { ...person, userId, organizationId, actor };
}

describe('the security log records', () => {
  test('a registration, a login, and failed logins with a hash of the email', async () => {
    const unique = newId();
    const [email, secret] = [`${unique}@example.com`, `own password ${unique}`];
    const body = { organization_name: unique, name: 'Ada', email, password: secret };
    const registered = await request('POST', '/auth/register', { body });
    const actor = {
      actor_id: registered.body.member.id,
      organization_id: registered.body.organization.id,
      key_id: null,
    };
    const account = expect.stringMatching(/^[\w-]{16}$/);
    expect(registered.lines).toEqual([{ event: 'account.register', outcome: 'done', ...actor, account }]);
    const again = await request('POST', '/auth/register', { body });
    expect(again.lines).toEqual([
      {
        event: 'account.register',
        outcome: 'email_taken',
        ...noActor,
        account: registered.lines[0]?.account,
      },
    ]);

    const login = (given: string, to = email) =>
      request('POST', '/auth/login', { body: { email: to, password: given } });
    const [right] = (await login(secret)).lines;
    expect(right).toEqual({ event: 'user.login', outcome: 'done', ...actor, account });
    const [wrong] = (await login('wrong horse battery staple')).lines;
    expect(wrong).toEqual({
      ...{ event: 'user.login', outcome: 'wrong_credentials' },
      ...{ ...noActor, account: right?.account },
    });
    const elsewhere = { email, password: secret, organization_slug: 'somewhere-else' };
    const [lost] = (await request('POST', '/auth/login', { body: elsewhere })).lines;
    expect(lost).toEqual({ ...wrong, actor_id: actor.actor_id });
    const [unknown] = (await login(secret, 'unknown@example.com')).lines;
    expect(unknown).toEqual({ ...wrong, account });
    expect(unknown?.account).not.toBe(wrong?.account);
  });

  test('a refresh, a reused refresh token with its owner, and a logout', async () => {
    const { email, password: own, actor } = await registerAda();
    const body = { email, password: own };
    const { refresh_token } = (await app.request('POST', '/auth/login', { body })).body;
    const refresh = (token: string) => request('POST', '/auth/refresh', { body: { refresh_token: token } });
    const renewed = await refresh(refresh_token);
    expect(renewed.lines).toEqual([{ event: 'session.refresh', outcome: 'done', ...actor }]);
    const rejected = { event: 'session.refresh', outcome: 'refresh_token_invalid' };
    expect((await refresh(refresh_token)).lines).toEqual([{ ...rejected, ...actor, refused: 'reused' }]);
    const next = renewed.body.refresh_token;
    expect((await refresh(next)).lines).toEqual([{ ...rejected, ...noActor, refused: 'unknown' }]);

    const other = (await app.request('POST', '/auth/login', { body })).body.refresh_token;
    const logout = () => request('POST', '/auth/logout', { body: { refresh_token: other } });
    expect((await logout()).lines).toEqual([{ event: 'user.logout', outcome: 'done', ...actor }]);
    expect((await logout()).lines).toEqual([{ event: 'user.logout', outcome: 'done', ...noActor }]);
  });

  test('a created, replayed and revoked API key, and the key that was used', async () => {
    const { token, key, actor, userId } = await registerAda();
    const [own] = (await app.request('GET', '/api-keys', { as: token })).body;
    const expires_at = new Date(Date.now() + 3_600_000).toISOString();
    const headers = { 'idempotency-key': newId() };
    const make = () =>
      request('POST', '/api-keys', { as: key, body: { name: 'Made', role: 'member', expires_at }, headers });
    const by = { ...actor, key_id: own.id };
    const created = await make();
    const created_key_id = created.body.id;
    expect(created.lines).toEqual([
      { event: 'api_key.create', outcome: 'done', ...by, role: 'member', created_key_id, expires_at },
    ]);
    expect((await make()).lines).toEqual([{ event: 'api_key.create', outcome: 'replayed', ...by }]);

    const revoke = () => request('DELETE', `/api-keys/${created_key_id}`, { as: token });
    const line = { event: 'api_key.revoke', ...actor, revoked_key_id: created_key_id };
    expect((await revoke()).lines).toEqual([{ ...line, outcome: 'done', member_id: userId }]);
    expect((await revoke()).lines).toEqual([{ ...line, outcome: 'not_found' }]);
    const all = await request('DELETE', '/me/api-keys', { as: token });
    expect(all.lines).toEqual([{ event: 'api_key.revoke_all', outcome: 'done', ...actor, count: 1 }]);
  });

  test('a created, withdrawn and accepted invitation, with its inviter', async () => {
    const { token, actor, userId, organizationId } = await registerAda();
    const invite = () =>
      request('POST', '/members/invitations', {
        as: token,
        body: { email: `${newId()}@example.com`, role: 'admin' },
      });
    const [first, second] = [await invite(), await invite()];
    const [invitation_id, role] = [first.body.id, 'admin'];
    expect(first.lines).toEqual([
      { event: 'invitation.create', outcome: 'done', ...actor, role, invitation_id },
    ]);
    const withdrawn = await request('DELETE', `/members/invitations/${invitation_id}`, { as: token });
    expect(withdrawn.lines).toEqual([
      { event: 'invitation.withdraw', outcome: 'done', ...actor, invitation_id },
    ]);
    const accept = (secret: string) =>
      request('POST', '/members/invitations/accept', {
        body: { token: secret, name: 'Guest', password },
      });
    const dead = await accept(first.body.token);
    expect(dead.lines).toEqual([{ event: 'invitation.accept', outcome: 'invitation_invalid', ...noActor }]);
    const accepted = await accept(second.body.token);
    expect(accepted.lines).toEqual([
      {
        ...{ event: 'invitation.accept', outcome: 'done', key_id: null, role },
        ...{ actor_id: accepted.body.member.id, organization_id: organizationId },
        ...{ invitation_id: second.body.id, invited_by: userId },
      },
    ]);
  });

  test('an invitation that replaced an account, with that account', async () => {
    const [ada, stranger] = [await registerAda(), await registerAda()];
    const invited = { as: ada.token, body: { email: stranger.email } };
    const { token } = (await app.request('POST', '/members/invitations', invited)).body;
    const body = { token, name: 'Guest', password, replace_account: true };
    const { lines } = await request('POST', '/members/invitations/accept', { body });
    expect(lines).toMatchObject([{ outcome: 'done', replaced_account_id: stranger.userId }]);
  });

  test('a role change with the old role, a removal, and rejected attempts', async () => {
    const { token, actor, userId } = await registerAda();
    const bob = await addMember(app, token, { password });
    const change = (id: string, role: string, as = token) =>
      request('PATCH', `/members/${id}`, { as, body: { role } });
    const line = { event: 'member.update', ...actor, member_id: bob.userId };
    expect((await change(bob.userId, 'admin')).lines).toEqual([
      { ...line, outcome: 'done', role: 'admin', role_before: 'member' },
    ]);
    await change(bob.userId, 'member');
    expect((await change(userId, 'member')).lines).toEqual([
      { ...line, member_id: userId, outcome: 'last_admin', role: 'member' },
    ]);
    const bobActor = { actor_id: bob.userId, organization_id: actor.organization_id, key_id: null };
    expect((await change(bob.userId, 'admin', bob.token)).lines).toEqual([
      { event: 'member.update', outcome: 'forbidden', ...bobActor },
    ]);
    await app.request('POST', '/departments', { as: token, body: { name: 'Kitchen' } });
    const moved = await request('PATCH', `/members/${bob.userId}`, {
      as: token,
      body: { department: 'Kitchen' },
    });
    expect(moved.lines).toEqual([{ ...line, outcome: 'done', department: 'Kitchen', role_before: 'member' }]);

    const removed = await request('DELETE', `/members/${bob.userId}`, { as: token });
    expect(removed.lines).toEqual([
      { event: 'member.remove', outcome: 'done', ...actor, member_id: bob.userId },
    ]);
    const late = await request('DELETE', `/members/${userId}`, { as: bob.token });
    expect(late.lines).toEqual([{ event: 'member.remove', outcome: 'unauthenticated', ...noActor }]);
  });

  test('a password change, a wrong password, and resets by admin and operator', async () => {
    const { token, actor, organizationId } = await registerAda();
    const bob = await addMember(app, token, { password });
    const change = (current_password: string) =>
      request('POST', '/me/password', {
        as: bob.token,
        body: { current_password, new_password: `new ${password}` },
      });
    const bobActor = { actor_id: bob.userId, organization_id: organizationId, key_id: null };
    expect((await change('wrong horse battery staple')).lines).toEqual([
      { event: 'password.update', outcome: 'wrong_password', ...bobActor },
    ]);
    expect((await change(password)).lines).toEqual([
      { event: 'password.update', outcome: 'done', ...bobActor },
    ]);

    const reset = await request('POST', `/members/${bob.userId}/password-reset`, { as: token });
    expect(reset.lines).toEqual([
      { event: 'password_reset.create', outcome: 'done', ...actor, member_id: bob.userId },
    ]);
    const use = () =>
      request('POST', '/auth/reset-password', { body: { token: reset.body.token, password } });
    expect((await use()).lines).toEqual([{ event: 'password_reset.complete', outcome: 'done', ...bobActor }]);
    expect((await use()).lines).toEqual([
      { event: 'password_reset.complete', outcome: 'reset_invalid', ...noActor },
    ]);

    const body = { email: bob.email };
    const operatorLines = await log.adminRequest('POST', '/ops/password-resets', body);
    const operator = { actor_id: 'operator', organization_id: null, key_id: null };
    expect(operatorLines).toEqual([
      { event: 'password_reset.create', outcome: 'done', ...operator, member_id: bob.userId },
    ]);
  });

  test('the plan that the operator sets, and changed organization fields', async () => {
    const { token, actor, organizationId } = await registerAda();
    const path = `/ops/organizations/${organizationId}/subscription`;
    const set = await log.adminRequest('PUT', path, { plan: 'team' });
    const operator = { actor_id: 'operator', organization_id: organizationId, key_id: null };
    expect(set).toEqual([{ event: 'subscription.update', outcome: 'done', ...operator, plan: 'team' }]);

    const body = { name: 'Renamed', settings: { lock_published: true } };
    const changed = await request('PATCH', '/organization', { as: token, body });
    expect(changed.lines).toEqual([
      {
        event: 'organization.update',
        outcome: 'done',
        ...actor,
        changed: ['name', 'settings.lock_published'],
      },
    ]);
  });

  test('the creation of the first signing key by the system', () => {
    const created = app.logLines().filter(({ event }) => event === 'signing_key.create');
    expect(created).toEqual([
      expect.objectContaining({
        audit: true,
        service: 'identity',
        actor_id: 'system',
        kid: expect.any(String),
      }),
    ]);
  });
});

test('a request that is not security-relevant is not in the security log', async () => {
  expect((await request('GET', '/me', { as: (await registerAda()).token })).lines).toEqual([]);
});

test('docs/security-log.md lists exactly the recorded events of identity', async () => {
  const page = await documentedEvents(new URL('../../docs/security-log.md', import.meta.url));
  const elsewhere = contracts
    .filter((contract) => contract !== identity.contract)
    .flatMap((contract) => [...contract.operations, ...(contract.adminOperations ?? [])])
    .map(({ audit }) => audit);
  const systemEvents = [
    { event: 'signing_key.create', routes: [], details: ['kid'] },
    { event: 'signing_key.delete', routes: [], details: ['kid'] },
    { event: 'dead_letter.replay', routes: [], details: ['id', 'queue'] },
    { event: 'secrets.reencrypt', routes: [], details: ['collection', 'count', 'field'] },
  ];
  expect(page.filter(({ event }) => !elsewhere.includes(event))).toEqual(
    sortByEvent([...recordedEvents(identity.contract, log.details), ...systemEvents]),
  );
});
