/** Signing in over HTTP with a real MongoDB: registration, sessions, access tokens and passwords. */
import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import jwt from 'jsonwebtoken';
import { newId } from '#libs/contract';
import { type Person, register, type TestApp, testApp } from '#libs/testing';
import { contracts } from '../../contracts.ts';
import { documents } from '../../documents/service.ts';
import { identity } from '../../testing/services.ts';
import { Session } from '../contract.ts';

let app: TestApp;
let ada: Person;

beforeAll(async () => {
  app = await testApp({ services: [identity, documents], contracts });
  ada = await register(app);
});
afterAll(() => app?.stop());

describe('registration', () => {
  test('registering creates an organization, its admin and valid tokens', async () => {
    const unique = newId();
    const account = {
      organization_name: `Harbour ${unique}`,
      name: ' Ada ',
      email: `Ada.${unique}@Example.COM`,
      password: 'correct horse battery',
    };
    const { status, body } = await app.request('POST', '/auth/register', { body: account });
    expect(status).toBe(201);
    expect(Session.parse(body)).toMatchObject({ token_type: 'Bearer', expires_in: 900 });
    expect(body.member).toMatchObject({
      name: 'Ada',
      email: `ada.${unique}@example.com`,
      role: 'admin',
      department: null,
    });
    const me = await app.request('GET', '/me', { as: body.access_token });
    expect(me.body).toMatchObject({
      user: { id: body.member.id },
      member: body.member,
      organization: body.organization,
    });
  });

  test('registering fails with 409 for a taken email in any case', async () => {
    const account = {
      organization_name: 'Again',
      name: 'Ada',
      email: ada.email.toUpperCase(),
      password: 'correct horse battery',
    };
    const { status, body } = await app.request('POST', '/auth/register', { body: account });
    expect([status, body.code]).toEqual([409, 'email_taken']);
  });

  test('a taken requested slug is 409; a generated slug gets a suffix', async () => {
    const account = (more: object) => ({
      name: 'Bo',
      email: `bo-${newId()}@example.com`,
      password: 'correct horse battery',
      ...more,
    });
    const taken = await app.request('POST', '/auth/register', {
      body: account({ organization_name: 'X', organization_slug: ada.slug }),
    });
    expect([taken.status, taken.body.code]).toEqual([409, 'slug_taken']);
    const name = `Same name ${newId().slice(0, 8)}`;
    const first = await app.request('POST', '/auth/register', {
      body: account({ organization_name: name }),
    });
    const second = await app.request('POST', '/auth/register', {
      body: account({ organization_name: name }),
    });
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body.organization.slug).not.toBe(first.body.organization.slug);
    const reserved = await app.request('POST', '/auth/register', {
      body: account({ organization_name: 'X', organization_slug: 'embed' }),
    });
    expect([reserved.status, reserved.body.errors[0].path]).toEqual([400, 'body/organization_slug']);
  });

  test('registering reports all invalid fields at once', async () => {
    const account = {
      organization_name: '',
      name: 'Bo',
      email: 'not-an-email',
      password: 'short',
      plan: 'scale',
    };
    const { status, body } = await app.request('POST', '/auth/register', { body: account });
    expect(status).toBe(400);
    const paths = body.errors.map(({ path }: { path: string }) => path).sort();
    expect(paths).toEqual(['body/email', 'body/organization_name', 'body/password', 'body/plan']);
  });

  test.each([
    'password1234',
    'passwordpassword',
    'qwertyuiop123',
    '123456789012',
    'aaaaaaaaaaaaaaaa',
    'guess.me@example.com',
  ])('registering rejects the weak password %s', async (password) => {
    const account = { organization_name: 'Guess', name: 'G', email: 'guess.me@example.com', password };
    const { status, body } = await app.request('POST', '/auth/register', { body: account });
    expect([status, body.errors[0].path]).toEqual([400, 'body/password']);
  });

  test('concurrent registrations with one email create one account', async () => {
    const email = `race-${newId()}@example.com`;
    const account = { organization_name: 'Race', name: 'R', email, password: 'correct horse battery' };
    const responses = await Promise.all(
      [1, 2, 3, 4].map(() => app.request('POST', '/auth/register', { body: account })),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
    expect(await app.db.collection('users').countDocuments({ email })).toBe(1);
  });
});

describe('sessions', () => {
  test('login fails with the same 401 for a wrong password and unknown account', async () => {
    const right = await app.request('POST', '/auth/login', {
      body: { email: ada.email, password: ada.password },
    });
    expect(right.status).toBe(200);
    const wrong = await app.request('POST', '/auth/login', {
      body: { email: ada.email, password: `${ada.password}!` },
    });
    const unknown = await app.request('POST', '/auth/login', {
      body: { email: `x${ada.email}`, password: ada.password },
    });
    expect([wrong.status, wrong.body.code]).toEqual([401, 'wrong_credentials']);
    expect({ ...unknown.body, request_id: '' }).toEqual({ ...wrong.body, request_id: '' });
  });

  test('a refresh token works once, and reusing it ends the session', async () => {
    const { body: session } = await app.request('POST', '/auth/login', {
      body: { email: ada.email, password: ada.password },
    });
    const renewed = await app.request('POST', '/auth/refresh', {
      body: { refresh_token: session.refresh_token },
    });
    expect(renewed.status).toBe(200);
    expect((await app.request('GET', '/me', { as: renewed.body.access_token })).status).toBe(200);
    const again = await app.request('POST', '/auth/refresh', {
      body: { refresh_token: session.refresh_token },
    });
    expect([again.status, again.body.code]).toEqual([401, 'refresh_token_invalid']);
    const successor = await app.request('POST', '/auth/refresh', {
      body: { refresh_token: renewed.body.refresh_token },
    });
    expect(successor.status).toBe(401);
  });

  test('logging out ends the session', async () => {
    const { body: session } = await app.request('POST', '/auth/login', {
      body: { email: ada.email, password: ada.password },
    });
    expect(
      (await app.request('POST', '/auth/logout', { body: { refresh_token: session.refresh_token } })).status,
    ).toBe(204);
    expect(
      (await app.request('POST', '/auth/refresh', { body: { refresh_token: session.refresh_token } })).status,
    ).toBe(401);
  });

  test('a new password ends all sessions, and an API key cannot set it', async () => {
    const eve = await register(app);
    const password = 'correct horse battery staple';
    const login = async (secret: string) =>
      app.request('POST', '/auth/login', { body: { email: eve.email, password: secret } });
    const before = (await login(eve.password)).body;
    const change = (as: string, body: unknown) => app.request('POST', '/me/password', { as, body });
    const good = { current_password: eve.password, new_password: password };
    expect((await change(eve.key, good)).body.code).toBe('password_needs_session');
    expect((await change(eve.token, { ...good, current_password: 'wrong' })).body.code).toBe(
      'wrong_password',
    );
    const easy = await change(eve.token, { ...good, new_password: 'passwordpassword' });
    expect([easy.status, easy.body.errors[0].path]).toEqual([400, 'body/new_password']);
    expect((await change(eve.token, good)).status).toBe(204);
    expect([(await login(eve.password)).status, (await login(password)).status]).toEqual([401, 200]);
    expect(
      (await app.request('POST', '/auth/refresh', { body: { refresh_token: before.refresh_token } })).status,
    ).toBe(401);
  });
});

describe('access tokens', () => {
  test('an access token is signed with ES256 and a published key', async () => {
    const { body } = await app.request('GET', '/auth/jwks.json');
    const header = jwt.decode(ada.token, { complete: true })?.header;
    expect(header).toMatchObject({ alg: 'ES256', kid: body.keys[0].kid });
    expect(JSON.stringify(body)).not.toContain('"d"');
  });

  test.each([
    ['no algorithm', () => jwt.sign(claims(), '', { algorithm: 'none' })],
    [
      'HS256 and the public key as its secret',
      (jwk: object) => jwt.sign(claims(), JSON.stringify(jwk), { algorithm: 'HS256', keyid: getKid(jwk) }),
    ],
    [
      'a foreign key under a known key id',
      (jwk: object) => jwt.sign(claims(), createForeignKey(), { algorithm: 'ES256', keyid: getKid(jwk) }),
    ],
    [
      'an unknown key id',
      () => jwt.sign(claims(), createForeignKey(), { algorithm: 'ES256', keyid: newId() }),
    ],
  ])('an access token with %s is rejected', async (_name, forge) => {
    const { body } = await app.request('GET', '/auth/jwks.json');
    expect((await app.request('GET', '/me', { as: forge(body.keys[0]) })).status).toBe(401);
  });

  test('the token and key of a deleted membership row are rejected at once', async () => {
    const eve = await register(app);
    expect((await app.request('GET', '/me', { as: eve.token })).status).toBe(200);
    expect((await app.request('GET', '/me', { as: eve.key })).status).toBe(200);
    await app.db
      .collection<{ _id: string }>('members')
      .deleteOne({ _id: `${eve.organizationId}:${eve.userId}` });
    expect((await app.request('GET', '/me', { as: eve.token })).status).toBe(401);
    expect((await app.request('GET', '/me', { as: eve.key })).status).toBe(401);
  });

  function claims() {
    return {
      sub: ada.userId,
      org: ada.organizationId,
      iss: 'process-document-service',
      aud: 'process-document-service',
      exp: 4_000_000_000,
    };
  }
});

function getKid(jwk: object): string {
  return 'kid' in jwk ? String(jwk.kid) : '';
}

function createForeignKey(): string {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' })
    .privateKey.export({ format: 'pem', type: 'pkcs8' })
    .toString();
}
