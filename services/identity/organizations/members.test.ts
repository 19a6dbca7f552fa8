/** Members over HTTP with a real MongoDB: roles, the last admin and removal. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { addMember, type Person, register, type TestApp, testApp } from '#libs/testing';
import { contracts } from '../../contracts.ts';
import { documents } from '../../documents/service.ts';
import { identity } from '../../testing/services.ts';

let app: TestApp;

beforeAll(async () => {
  app = await testApp({ services: [identity, documents], contracts });
});
afterAll(() => app?.stop());

/** Adds a user to the organization of `host`. Returns an access token for it. */
const join = async (person: Person, host: Person, role: 'member' | 'admin') =>
  (await addMember(app, host.token, { ...person, role })).token;

describe('members', () => {
  test('a user in several organizations must name one to log in', async () => {
    const [ada, bob] = await Promise.all([register(app), register(app)]);
    await join(bob, ada, 'member');
    const { status, body } = await app.request('POST', '/auth/login', {
      body: { email: bob.email, password: bob.password },
    });
    expect([status, body.code]).toEqual([400, 'organization_required']);
    expect(body.organizations.map(({ slug }: { slug: string }) => slug).sort()).toEqual(
      [ada.slug, bob.slug].sort(),
    );
  });

  test('any member lists exactly the members, page by page', async () => {
    const [ada, bob, cy] = await Promise.all([register(app), register(app), register(app)]);
    const token = await join(bob, ada, 'member');
    await join(cy, ada, 'member');
    const first = await app.request('GET', '/members?limit=2', { as: token });
    const next = /<\/api\/v1([^>]+)>/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
    const second = await app.request('GET', next, { as: token });
    const ids = [...first.body, ...second.body].map(({ id }: { id: string }) => id);
    expect(ids).toEqual([ada.userId, bob.userId, cy.userId].sort());
    expect(second.headers.get('link')).toBeNull();
  });

  test('only admins change roles, which apply with the next request', async () => {
    const [ada, bob] = await Promise.all([register(app), register(app)]);
    const token = await join(bob, ada, 'member');
    const rejected = await app.request('PATCH', `/members/${ada.userId}`, {
      as: token,
      body: { role: 'member' },
    });
    expect([rejected.status, rejected.body.code]).toEqual([403, 'forbidden']);
    const raised = await app.request('PATCH', `/members/${bob.userId}`, {
      as: ada.token,
      body: { role: 'admin' },
    });
    expect([raised.status, raised.body.role]).toEqual([200, 'admin']);
    expect(
      (await app.request('PATCH', `/members/${ada.userId}`, { as: token, body: { role: 'member' } })).status,
    ).toBe(200);
    expect(
      (await app.request('PATCH', `/members/${bob.userId}`, { as: ada.token, body: { role: 'member' } }))
        .status,
    ).toBe(403);
    expect((await app.request('PATCH', `/members/${bob.userId}`, { as: token, body: {} })).status).toBe(400);
  });

  test('the last admin cannot be removed or demoted', async () => {
    const [ada, bob] = await Promise.all([register(app), register(app)]);
    await join(bob, ada, 'member');
    const demoted = await app.request('PATCH', `/members/${ada.userId}`, {
      as: ada.token,
      body: { role: 'member' },
    });
    const removed = await app.request('DELETE', `/members/${ada.userId}`, { as: ada.token });
    expect([demoted.status, demoted.body.code, removed.status]).toEqual([409, 'last_admin', 409]);
  });

  test('two admins who remove each other concurrently leave one admin', async () => {
    for (let round = 0; round < 5; round += 1) {
      const [ada, bob] = await Promise.all([register(app), register(app)]);
      const token = await join(bob, ada, 'admin');
      const responses = await Promise.all([
        app.request('PATCH', `/members/${bob.userId}`, { as: ada.token, body: { role: 'member' } }),
        app.request('DELETE', `/members/${ada.userId}`, { as: token }),
      ]);
      const admins = await app.db
        .collection('members')
        .countDocuments({ organization_id: ada.organizationId, role: 'admin' });
      expect(admins).toBe(1);
      expect(
        responses
          .filter(({ status }) => status >= 400)
          .every(({ status }) => [401, 403, 409].includes(status)),
      ).toBe(true);
    }
  });

  test('tokens and keys of a removed member are rejected at once', async () => {
    const [ada, bob] = await Promise.all([register(app), register(app)]);
    const token = await join(bob, ada, 'member');
    const key = (await app.request('POST', '/api-keys', { as: token, body: { name: 'K' } })).body.key;
    expect((await app.request('DELETE', `/members/${bob.userId}`, { as: ada.key })).status).toBe(204);
    for (const as of [token, key]) expect((await app.request('GET', '/me', { as })).status).toBe(401);
    expect((await app.request('GET', '/me', { as: bob.token })).status).toBe(200);
    expect((await app.request('DELETE', `/members/${bob.userId}`, { as: ada.key })).status).toBe(404);
  });

  test('the roles are listed with their permissions', async () => {
    const ada = await register(app);
    const { body } = await app.request('GET', '/roles', { as: ada.token });
    expect(body.map(({ name }: { name: string }) => name)).toEqual(['member', 'admin']);
    expect(body.every(({ permissions }: { permissions: string[] }) => permissions.length > 3)).toBe(true);
  });
});
