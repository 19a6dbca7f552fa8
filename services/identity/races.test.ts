/**
 * What happens at the same moment, over HTTP with a real MongoDB: whoever takes something away wins, however
 * close it was.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { type Person, register, type TestApp, type TestResponse, testApp } from '#libs/testing';
import { contracts } from '../contracts.ts';
import { documents } from '../documents/service.ts';
import { identity } from './service.ts';

let here: TestApp;

beforeAll(async () => {
  here = await testApp({ services: [identity, documents], contracts });
}, 60_000);
afterAll(() => here?.stop());

const password = 'correct horse battery staple';
const login = async (email: string, secret: string, organization_slug?: string) =>
  here.request('POST', '/auth/login', { body: { email, password: secret, organization_slug } });
const refresh = (refresh_token: string) => here.request('POST', '/auth/refresh', { body: { refresh_token } });
const me = async (as: string) => (await here.request('GET', '/me', { as })).status;
const newPassword = (person: Person) =>
  here.request('POST', '/me/password', {
    as: person.token,
    body: { current_password: person.password, new_password: password },
  });

/** Repeats what must never go wrong: each round meets another interleaving. */
async function rounds(count: number, round: (at: number) => Promise<void>): Promise<void> {
  for (let at = 0; at < count; at += 1) await round(at);
}

/** The tokens that were given although the session was being ended: none of them may work afterwards. */
async function areDead(answers: readonly TestResponse[]): Promise<void> {
  for (const { status, body } of answers) {
    if (status !== 200) continue;
    expect(await me(body.access_token)).toBe(401);
    expect((await refresh(body.refresh_token)).status).toBe(401);
  }
}

describe('sessions', () => {
  test('a refresh token that is used twice at once ends its session, whoever was first', async () => {
    const ada = await register(here);
    await rounds(6, async () => {
      const { refresh_token } = (await login(ada.email, ada.password)).body;
      const answers = await Promise.all([1, 2, 3].map(() => refresh(refresh_token)));
      expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
      for (const { status, body } of answers)
        if (status === 200) expect((await refresh(body.refresh_token)).status).toBe(401);
    });
  }, 60_000);

  test('a refresh at the moment of the logout does not outlive it', async () => {
    const ada = await register(here);
    await rounds(10, async () => {
      const { refresh_token } = (await login(ada.email, ada.password)).body;
      const [renewed, left] = await Promise.all([
        refresh(refresh_token),
        here.request('POST', '/auth/logout', { body: { refresh_token } }),
      ]);
      expect(left.status).toBe(204);
      if (renewed.status === 200) expect((await refresh(renewed.body.refresh_token)).status).toBe(401);
    });
  }, 60_000);

  test('refreshes and logins at the moment of a new password do not outlive it', async () => {
    await rounds(4, async () => {
      const ada = await register(here);
      const before = await Promise.all([1, 2].map(() => login(ada.email, ada.password)));
      const [changed, ...answers] = await Promise.all([
        newPassword(ada),
        ...before.map(({ body }) => refresh(body.refresh_token)),
        ...[1, 2, 3].map(() => login(ada.email, ada.password)),
      ]);
      expect(changed.status).toBe(204);
      await areDead([...before, ...answers]);
      expect(await me(ada.token)).toBe(401);
      expect(await me((await login(ada.email, password)).body.access_token)).toBe(200);
    });
  }, 120_000);

  test('of two who change a password at once only one does', async () => {
    const ada = await register(here);
    const answers = await Promise.all([1, 2, 3].map(() => newPassword(ada)));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 400, 400]);
  }, 60_000);
});

describe('API keys', () => {
  const make = (as: string) => here.request('POST', '/api-keys', { as, body: { name: 'Made' } });

  test('a key that makes keys while it is revoked leaves none behind', async () => {
    const ada = await register(here);
    await rounds(8, async () => {
      const maker = (await make(ada.token)).body;
      const child = (await make(maker.key)).body;
      const [revoked, ...made] = await Promise.all([
        here.request('DELETE', `/api-keys/${maker.id}`, { as: ada.token }),
        ...[maker, child, maker, child, maker].map(({ key }) => make(key)),
      ]);
      expect(revoked.status).toBe(204);
      for (const { status, body } of made) expect(status === 201 ? await me(body.key) : status).toBe(401);
      const left = await here.db
        .collection('api_keys')
        .countDocuments({ organization_id: ada.organizationId });
      expect(left).toBe(1);
    });
  }, 60_000);

  test('a member who is removed while making keys leaves none behind, also when invited again', async () => {
    const ada = await register(here);
    const bob = await register(here);
    await rounds(4, async () => {
      const joined = await accept((await invite(ada, bob.email)).token, bob.password);
      const { access_token, refresh_token } = joined.body;
      const old = (await make(access_token)).body.key;
      const [removed, ...made] = await Promise.all([
        here.request('DELETE', `/members/${bob.userId}`, { as: ada.token }),
        ...[access_token, old, access_token, old].map((as) => make(as)),
      ]);
      expect(removed.status).toBe(204);
      await accept((await invite(ada, bob.email)).token, bob.password);
      expect(await me(old)).toBe(401);
      for (const { status, body } of made) expect(status === 201 ? await me(body.key) : status).toBe(401);
      expect((await refresh(refresh_token)).status).toBe(401);
      await here.request('DELETE', `/members/${bob.userId}`, { as: ada.token });
    });
  }, 120_000);
});

async function invite(host: Person, email: string) {
  return (await here.request('POST', '/members/invitations', { as: host.key, body: { email } })).body;
}

function accept(token: string, secret: string) {
  return here.request('POST', '/members/invitations/accept', {
    body: { token, name: 'Guest', password: secret },
  });
}

describe('invitations', () => {
  test('five who accept at once with a known account are one member', async () => {
    const [ada, bob] = await Promise.all([register(here), register(here)]);
    const { token } = await invite(ada, bob.email);
    const answers = await Promise.all(Array.from({ length: 5 }, () => accept(token, bob.password)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400]);
    expect((await here.request('GET', '/members', { as: ada.key })).body).toHaveLength(2);
  }, 60_000);

  test('two invitations accepted at once by one new person make one account', async () => {
    await rounds(3, async () => {
      const [ada, bob] = await Promise.all([register(here), register(here)]);
      const email = `${newId()}@example.com`;
      const tokens = await Promise.all([invite(ada, email), invite(bob, email)]);
      const answers = await Promise.all(tokens.map(({ token }, at) => accept(token, `${password} ${at}`)));
      const statuses = answers.map(({ status }) => status).sort();
      expect(statuses).toEqual([200, 401]);
      const winner = answers.findIndex(({ status }) => status === 200);
      expect((await login(email, `${password} ${winner}`)).status).toBe(200);
      expect((await login(email, `${password} ${1 - winner}`)).status).toBe(401);
    });
  }, 120_000);

  test('joining at the moment of a new password: the old one opens nothing, the new one everything', async () => {
    await rounds(4, async () => {
      const [ada, bob] = await Promise.all([register(here), register(here)]);
      const { token } = await invite(ada, bob.email);
      const [joined, changed] = await Promise.all([accept(token, bob.password), newPassword(bob)]);
      expect(changed.status).toBe(204);
      await areDead([joined]);
      if (joined.status !== 200) expect((await accept(token, password)).status).toBe(200);
      const again = await login(bob.email, password, ada.slug);
      expect(await me(again.body.access_token)).toBe(200);
    });
  }, 120_000);
});
