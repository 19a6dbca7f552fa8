/** Concurrent requests over HTTP with a real MongoDB: a revocation always wins. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { type Person, register, type TestApp, type TestResponse, testApp } from '#libs/testing';
import { contracts } from '../contracts.ts';
import { documents } from '../documents/service.ts';
import { identity } from '../testing/services.ts';

let app: TestApp;

beforeAll(async () => {
  app = await testApp({ services: [identity, documents], contracts });
});
afterAll(() => app?.stop());

const password = 'correct horse battery staple';
const login = async (email: string, secret: string, organization_slug?: string) =>
  app.request('POST', '/auth/login', { body: { email, password: secret, organization_slug } });
const refresh = (refresh_token: string) => app.request('POST', '/auth/refresh', { body: { refresh_token } });
const me = async (as: string) => (await app.request('GET', '/me', { as })).status;
const changePassword = (person: Person) =>
  app.request('POST', '/me/password', {
    as: person.token,
    body: { current_password: person.password, new_password: password },
  });

/** Repeats a race, because each round may interleave differently. */
async function repeat(count: number, round: (at: number) => Promise<void>): Promise<void> {
  for (let at = 0; at < count; at += 1) await round(at);
}

/** Expects that no token works that was issued while the session was ended. */
async function expectRejected(responses: readonly TestResponse[]): Promise<void> {
  for (const { status, body } of responses) {
    if (status !== 200) continue;
    expect(await me(body.access_token)).toBe(401);
    expect((await refresh(body.refresh_token)).status).toBe(401);
  }
}

describe('concurrent sessions', () => {
  test('concurrent uses of one refresh token end the session', async () => {
    const ada = await register(app);
    await repeat(6, async () => {
      const { refresh_token } = (await login(ada.email, ada.password)).body;
      const responses = await Promise.all([1, 2, 3].map(() => refresh(refresh_token)));
      expect(responses.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
      await expectRejected(responses);
    });
  });

  test('a refresh concurrent with a logout does not keep the session', async () => {
    const ada = await register(app);
    await repeat(10, async () => {
      const { refresh_token } = (await login(ada.email, ada.password)).body;
      const [renewed, left] = await Promise.all([
        refresh(refresh_token),
        app.request('POST', '/auth/logout', { body: { refresh_token } }),
      ]);
      expect(left.status).toBe(204);
      await expectRejected([renewed]);
    });
  });

  test('refreshes and logins concurrent with a new password are ended', async () => {
    await repeat(4, async () => {
      const ada = await register(app);
      const before = await Promise.all([1, 2].map(() => login(ada.email, ada.password)));
      const [changed, ...responses] = await Promise.all([
        changePassword(ada),
        ...before.map(({ body }) => refresh(body.refresh_token)),
        ...[1, 2, 3].map(() => login(ada.email, ada.password)),
      ]);
      expect(changed.status).toBe(204);
      await expectRejected([...before, ...responses]);
      expect(await me(ada.token)).toBe(401);
      expect(await me((await login(ada.email, password)).body.access_token)).toBe(200);
    });
  });

  test('one of several concurrent password changes succeeds', async () => {
    const ada = await register(app);
    const responses = await Promise.all([1, 2, 3].map(() => changePassword(ada)));
    expect(responses.map(({ status }) => status).sort()).toEqual([204, 400, 400]);
  });
});

describe('concurrent API keys', () => {
  const createKey = (as: string) => app.request('POST', '/api-keys', { as, body: { name: 'Created' } });

  test('a key that creates keys while being revoked leaves none', async () => {
    const ada = await register(app);
    await repeat(8, async () => {
      const creator = (await createKey(ada.token)).body;
      const child = (await createKey(creator.key)).body;
      const [revoked, ...created] = await Promise.all([
        app.request('DELETE', `/api-keys/${creator.id}`, { as: ada.token }),
        ...[creator, child, creator, child, creator].map(({ key }) => createKey(key)),
      ]);
      expect(revoked.status).toBe(204);
      for (const { status, body } of created) expect(status === 201 ? await me(body.key) : status).toBe(401);
      const left = await app.db
        .collection('api_keys')
        .countDocuments({ organization_id: ada.organizationId });
      expect(left).toBe(1);
    });
  });

  test('a key that creates keys while all are revoked leaves none', async () => {
    const ada = await register(app);
    await repeat(8, async () => {
      const creator = (await createKey(ada.token)).body;
      const [revoked, ...created] = await Promise.all([
        app.request('DELETE', '/me/api-keys', { as: ada.token }),
        ...[1, 2, 3, 4].map(() => createKey(creator.key)),
      ]);
      expect(revoked.status).toBe(204);
      for (const { status, body } of created) expect(status === 201 ? await me(body.key) : status).toBe(401);
    });
  });

  test('a member removed while creating keys leaves none after rejoining', async () => {
    const ada = await register(app);
    const bob = await register(app);
    await repeat(4, async () => {
      const joined = await accept((await invite(ada, bob.email)).token, bob.password);
      const { access_token, refresh_token } = joined.body;
      const old = (await createKey(access_token)).body.key;
      const [removed, ...created] = await Promise.all([
        app.request('DELETE', `/members/${bob.userId}`, { as: ada.token }),
        ...[access_token, old, access_token, old].map((as) => createKey(as)),
      ]);
      expect(removed.status).toBe(204);
      await accept((await invite(ada, bob.email)).token, bob.password);
      expect(await me(old)).toBe(401);
      for (const { status, body } of created) expect(status === 201 ? await me(body.key) : status).toBe(401);
      expect((await refresh(refresh_token)).status).toBe(401);
      await app.request('DELETE', `/members/${bob.userId}`, { as: ada.token });
    });
  });
});

async function invite(host: Person, email: string) {
  return (await app.request('POST', '/members/invitations', { as: host.key, body: { email } })).body;
}

function accept(token: string, secret: string) {
  return app.request('POST', '/members/invitations/accept', {
    body: { token, name: 'Guest', password: secret },
  });
}

describe('concurrent invitations', () => {
  test('five concurrent acceptances by one account create one member', async () => {
    const [ada, bob] = await Promise.all([register(app), register(app)]);
    const { token } = await invite(ada, bob.email);
    const responses = await Promise.all(Array.from({ length: 5 }, () => accept(token, bob.password)));
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400]);
    expect((await app.request('GET', '/members', { as: ada.key })).body).toHaveLength(2);
  });

  test('two invitations accepted concurrently create one account', async () => {
    await repeat(3, async () => {
      const [ada, bob] = await Promise.all([register(app), register(app)]);
      const email = `${newId()}@example.com`;
      const tokens = await Promise.all([invite(ada, email), invite(bob, email)]);
      const responses = await Promise.all(tokens.map(({ token }, at) => accept(token, `${password} ${at}`)));
      const statuses = responses.map(({ status }) => status).sort();
      expect(statuses).toEqual([200, 401]);
      const winner = responses.findIndex(({ status }) => status === 200);
      expect((await login(email, `${password} ${winner}`)).status).toBe(200);
      expect((await login(email, `${password} ${1 - winner}`)).status).toBe(401);
    });
  });

  test('joining while the password changes: only the new password works', async () => {
    await repeat(4, async () => {
      const [ada, bob] = await Promise.all([register(app), register(app)]);
      const { token } = await invite(ada, bob.email);
      const [joined, changed] = await Promise.all([accept(token, bob.password), changePassword(bob)]);
      expect(changed.status).toBe(204);
      await expectRejected([joined]);
      if (joined.status !== 200) expect((await accept(token, password)).status).toBe(200);
      const again = await login(bob.email, password, ada.slug);
      expect(await me(again.body.access_token)).toBe(200);
    });
  });
});
