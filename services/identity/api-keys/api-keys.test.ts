/** API keys over HTTP with a real MongoDB: creation, use, revocation, and what other members see. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { addMember, type Person, register, type TestApp, testApp, until } from '#libs/testing';
import { contracts } from '../../contracts.ts';
import { documents } from '../../documents/service.ts';
import { identity } from '../../testing/services.ts';

let app: TestApp;
let ada: Person;

beforeAll(async () => {
  app = await testApp({ services: [identity, documents], contracts });
  ada = await register(app);
});
afterAll(() => app?.stop());

test('an API key is returned once and stored as a hash', async () => {
  const { status, body } = await app.request('POST', '/api-keys', { as: ada.token, body: { name: 'CI' } });
  expect(status).toBe(201);
  expect(body).toMatchObject({
    name: 'CI',
    role: 'member',
    created_by: ada.userId,
    expires_at: null,
    prefix: body.key.slice(0, 12),
  });
  const row = await app.db.collection<{ _id: string }>('api_keys').findOne({ _id: body.id });
  expect(JSON.stringify(row)).not.toContain(body.key);
});

test('a replayed creation returns no API key', async () => {
  const request = { as: ada.token, body: { name: 'Once' }, headers: { 'idempotency-key': newId() } };
  const first = await app.request('POST', '/api-keys', request);
  const second = await app.request('POST', '/api-keys', request);
  expect(first.body.key).toMatch(/^pds_/);
  expect(second.headers.get('idempotency-replayed')).toBe('true');
  expect(second.body).toEqual({ ...first.body, key: null });
});

test('an expired API key is rejected', async () => {
  const soon = new Date(Date.now() + 3_600_000).toISOString();
  const { body } = await app.request('POST', '/api-keys', {
    as: ada.token,
    body: { name: 'Short', expires_at: soon },
  });
  expect((await app.request('GET', '/me', { as: body.key })).status).toBe(200);
  await app.db
    .collection<{ _id: string }>('api_keys')
    .updateOne({ _id: body.id }, { $set: { expires_at: new Date(0) } });
  expect((await app.request('GET', '/me', { as: body.key })).status).toBe(401);
});

test('an API key created with a key has at most its role and expiry', async () => {
  const soon = new Date(Date.now() + 3_600_000).toISOString();
  const creator = await app.request('POST', '/api-keys', {
    as: ada.token,
    body: { name: 'Creator', role: 'member', expires_at: soon },
  });
  const higher = await app.request('POST', '/api-keys', {
    as: creator.body.key,
    body: { name: 'Higher', role: 'admin' },
  });
  expect([higher.status, higher.body.code]).toEqual([403, 'role_too_high']);
  const child = await app.request('POST', '/api-keys', { as: creator.body.key, body: { name: 'Child' } });
  expect(child.body.expires_at).toBe(soon);
});

test('members see and revoke their own API keys, admins all keys', async () => {
  const [ada, bob] = await Promise.all([register(app), register(app)]);
  const { token } = await addMember(app, ada.token, { ...bob, role: 'member' });
  const his = await app.request('POST', '/api-keys', { as: token, body: { name: 'His' } });
  const hers = await app.request('POST', '/api-keys', { as: ada.token, body: { name: 'Hers' } });
  const names = async (as: string) =>
    (await app.request('GET', '/api-keys', { as })).body.map(({ name }: { name: string }) => name);
  expect(await names(token)).toEqual(['His']);
  expect(await names(ada.token)).toEqual(['Hers', 'His', 'Test']);
  expect(JSON.stringify((await app.request('GET', '/api-keys', { as: ada.token })).body)).not.toContain(
    his.body.key,
  );
  expect((await app.request('DELETE', `/api-keys/${hers.body.id}`, { as: token })).status).toBe(404);
  expect((await app.request('GET', '/me', { as: his.body.key })).status).toBe(200);
  expect((await app.request('DELETE', `/api-keys/${his.body.id}`, { as: ada.token })).status).toBe(204);
  expect((await app.request('GET', '/me', { as: his.body.key })).status).toBe(401);
  expect((await app.request('DELETE', `/api-keys/${his.body.id}`, { as: ada.token })).status).toBe(404);
});

test('the use of an API key is published once and recorded', async () => {
  const ada = await register(app);
  const { body } = await app.request('POST', '/api-keys', { as: ada.token, body: { name: 'Used' } });
  expect(body.last_used_at).toBeNull();
  const before = Date.now();
  for (let uses = 0; uses < 5; uses += 1) await app.request('GET', '/documents', { as: body.key });
  const readKey = async () =>
    (await app.request('GET', '/api-keys', { as: ada.token })).body.find(
      ({ id }: { id: string }) => id === body.id,
    );
  const used = await until('the use to be recorded', async () => (await readKey()).last_used_at ?? undefined);
  expect(Date.parse(used)).toBeGreaterThanOrEqual(before);
  const events = await app.db.collection('documents_outbox').find({ type: 'api_key.used' }).toArray();
  expect(events.filter(({ event }) => event.includes(body.id))).toHaveLength(1);
});

test('revoking an API key revokes all keys created with it', async () => {
  const ada = await register(app);
  const first = (await app.request('POST', '/api-keys', { as: ada.token, body: { name: '1' } })).body;
  const second = (await app.request('POST', '/api-keys', { as: first.key, body: { name: '2' } })).body;
  const third = (await app.request('POST', '/api-keys', { as: second.key, body: { name: '3' } })).body;
  expect((await app.request('GET', '/me', { as: third.key })).status).toBe(200);
  expect((await app.request('DELETE', `/api-keys/${first.id}`, { as: ada.token })).status).toBe(204);
  for (const { key } of [first, second, third])
    expect((await app.request('GET', '/me', { as: key })).status).toBe(401);
  expect((await app.request('GET', '/me', { as: ada.key })).status).toBe(200);
});

test('a member revokes all own API keys, and no others', async () => {
  const [ada, bob] = [await register(app), await register(app)];
  const guest = await addMember(app, ada.token, { email: bob.email, password: bob.password });
  const create = async (as: string) =>
    (await app.request('POST', '/api-keys', { as, body: { name: 'Own' } })).body.key;
  const first = await create(guest.token);
  const keys = [first, await create(first), await create(guest.token)];
  const status = async (as: string) => (await app.request('GET', '/me', { as })).status;
  expect(await Promise.all(keys.map(status))).toEqual([200, 200, 200]);
  expect((await app.request('DELETE', '/me/api-keys', { as: first })).status).toBe(204);
  expect(await Promise.all(keys.map(status))).toEqual([401, 401, 401]);
  // the session, the key of another member and the key in another organization stay valid
  expect(await Promise.all([guest.token, ada.key, bob.key].map(status))).toEqual([200, 200, 200]);
  expect((await app.request('DELETE', '/me/api-keys', { as: guest.token })).status).toBe(204);
});
