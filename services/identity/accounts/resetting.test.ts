/** Password resets over HTTP with a real MongoDB: who may create one, and what its use ends. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { newId } from '#libs/contract';
import { httpClient, opsToken, type Person, register, type TestApp, testApp } from '#libs/testing';
import { contracts } from '../../contracts.ts';
import { documents } from '../../documents/service.ts';
import { identity } from '../../testing/services.ts';

let app: TestApp;
let ada: Person;

beforeAll(async () => {
  app = await testApp({
    services: [identity, documents],
    contracts,
    environment: {
      APP_URL: 'https://docs.example/',
      TRUSTED_PROXIES: '127.0.0.0/8',
      LOGINS_PER_MINUTE: '40',
    },
  });
  ada = await register(app);
});
afterAll(() => app?.stop());

const password = 'correct horse battery staple';
const reset = (memberId: string, as: string = ada.token, headers = {}) =>
  app.request('POST', `/members/${memberId}/password-reset`, { as, headers });
const use = (token: string, secret: string = password, address = '192.0.2.1') =>
  app.request('POST', '/auth/reset-password', {
    body: { token, password: secret },
    headers: { 'x-forwarded-for': address },
  });
const login = async (email: string, secret: string) =>
  (await app.request('POST', '/auth/login', { body: { email, password: secret } })).status;
const resetByOperator = (email: string, token: string = opsToken) =>
  httpClient(app.management).request('POST', '/ops/password-resets', { as: token, body: { email } });

/** A user who is in the organization of `host` and in no other. */
async function createMember(host: Person, email = `${newId()}@example.com`) {
  const { body } = await app.request('POST', '/members/invitations', { as: host.key, body: { email } });
  const own = `own password of ${newId()}`;
  const accepted = { token: body.token, name: 'Guest', password: own };
  const session = (await app.request('POST', '/members/invitations/accept', { body: accepted })).body;
  return { id: session.member.id, email, password: own, session };
}

describe('a reset by an admin', () => {
  test('a reset token sets a new password once and ends all sessions', async () => {
    const guest = await createMember(ada);
    const { access_token, refresh_token } = guest.session;
    const key = (await app.request('POST', '/api-keys', { as: access_token, body: { name: 'Own' } })).body
      .key;
    const { status, body } = await reset(guest.id);
    expect([status, body.reset_url]).toEqual([201, `https://docs.example/reset-password#${body.token}`]);
    const minutes = (Date.parse(body.expires_at) - Date.now()) / 60_000;
    expect([minutes > 55, minutes <= 60]).toEqual([true, true]);
    expect(await login(guest.email, guest.password)).toBe(200);

    expect((await use(body.token)).status).toBe(204);
    expect([await login(guest.email, guest.password), await login(guest.email, password)]).toEqual([
      401, 200,
    ]);
    expect((await app.request('GET', '/me', { as: access_token })).status).toBe(401);
    expect((await app.request('POST', '/auth/refresh', { body: { refresh_token } })).status).toBe(401);
    expect((await app.request('GET', '/me', { as: key })).status).toBe(200);
    expect((await use(body.token)).body.code).toBe('reset_invalid');
    const stored = JSON.stringify(await app.db.collection('password_resets').find({}).toArray());
    expect(stored).not.toContain(body.token);
  });

  test('replaced, expired, unknown and outdated reset tokens are invalid', async () => {
    const guest = await createMember(ada);
    const [first, second] = [(await reset(guest.id)).body, (await reset(guest.id)).body];
    expect((await use(first.token)).body.code).toBe('reset_invalid');
    const own = { current_password: guest.password, new_password: password };
    await app.request('POST', '/me/password', { as: guest.session.access_token, body: own });
    expect((await use(second.token)).body.code).toBe('reset_invalid');
    const third = (await reset(guest.id)).body;
    await app.db
      .collection<{ _id: string }>('password_resets')
      .updateOne({ _id: guest.id }, { $set: { expires_at: new Date(0) } });
    expect((await use(third.token)).body.code).toBe('reset_invalid');
    expect((await use('nonsense')).body.code).toBe('reset_invalid');
    expect(await login(guest.email, password)).toBe(200);
  });

  test('a weak password is rejected and the token stays valid', async () => {
    const guest = await createMember(ada);
    const { token } = (await reset(guest.id)).body;
    for (const weak of ['short', 'qwertyuiop123', guest.email]) {
      const { status, body } = await use(token, weak);
      expect([status, body.errors[0].path]).toEqual([400, 'body/password']);
    }
    const responses = await Promise.all(Array.from({ length: 4 }, () => use(token)));
    expect(responses.map(({ status }) => status).sort()).toEqual([204, 400, 400, 400]);
  });

  test('only an admin with a session resets another member of the organization', async () => {
    const [guest, other, bob] = [await createMember(ada), await createMember(ada), await register(app)];
    const getStatusAndCode = async (response: ReturnType<typeof reset>) => {
      const { status, body } = await response;
      return [status, body.code];
    };
    expect(await getStatusAndCode(reset(other.id, guest.session.access_token))).toEqual([403, 'forbidden']);
    expect(await getStatusAndCode(reset(guest.id, ada.key))).toEqual([403, 'password_needs_session']);
    expect(await getStatusAndCode(reset(ada.userId))).toEqual([403, 'forbidden']);
    expect(await getStatusAndCode(reset(guest.id, bob.token))).toEqual([404, 'not_found']);
    expect(await getStatusAndCode(reset(newId()))).toEqual([404, 'not_found']);
  });

  test('an admin cannot reset a user who is also in another organization', async () => {
    const [guest, bob] = [await createMember(ada), await register(app)];
    const { token } = (await reset(guest.id)).body;
    const invitation = { as: bob.key, body: { email: guest.email } };
    const { body } = await app.request('POST', '/members/invitations', invitation);
    const accepted = { token: body.token, name: 'Guest', password: guest.password };
    expect((await app.request('POST', '/members/invitations/accept', { body: accepted })).status).toBe(200);
    expect((await use(token)).body.code).toBe('reset_invalid');
    const again = await reset(guest.id);
    expect([again.status, again.body.code]).toEqual([403, 'member_elsewhere']);

    const byOperator = await resetByOperator(guest.email.toUpperCase());
    expect(byOperator.status).toBe(201);
    const created = z.object({ token: z.string() }).loose().parse(byOperator.body);
    expect((await use(created.token)).status).toBe(204);
    const own = { email: guest.email, password, organization_slug: bob.slug };
    expect((await app.request('POST', '/auth/login', { body: own })).status).toBe(200);
  });

  test('removing the member ends the token, and a replay returns none', async () => {
    const guest = await createMember(ada);
    const key = { 'idempotency-key': newId() };
    const { token } = (await reset(guest.id, ada.token, key)).body;
    expect((await reset(guest.id, ada.token, key)).body).toMatchObject({ token: null, reset_url: null });
    await app.request('DELETE', `/members/${guest.id}`, { as: ada.token });
    expect((await use(token)).body.code).toBe('reset_invalid');
  });
});

test('only the operator resets any account; an unknown email is 400', async () => {
  for (const token of ['nonsense', ada.key, ada.token])
    expect((await resetByOperator(ada.email, token)).status).toBe(401);
  const unknown = await resetByOperator(`${newId()}@example.com`);
  expect(unknown.status).toBe(400);
  expect(unknown.body).toMatchObject({ code: 'no_such_account' });
  expect((await app.request('POST', '/ops/password-resets', { as: opsToken, body: {} })).status).toBe(404);
});

test('a reset from before an invitation ends when it is accepted', async () => {
  const email = `${newId()}@example.com`;
  const guest = await createMember(ada, email);
  expect((await app.request('DELETE', `/members/${guest.id}`, { as: ada.token })).status).toBe(204);
  const older = await resetByOperator(email);
  expect(older.status).toBe(201);
  const { password: own } = await createMember(ada, email);
  expect((await use(older.body.token)).body.code).toBe('reset_invalid');
  expect(await login(email, own)).toBe(200);
});

test('setting new passwords is limited per address', async () => {
  const responses = await Promise.all(
    Array.from({ length: 100 }, () => use('nonsense', password, '192.0.2.9')),
  );
  const codes = new Set(responses.map(({ body }) => body.code));
  expect(codes).toEqual(new Set(['reset_invalid', 'too_many_requests']));
});
