/** Tests the limits of API keys and invitations, and what the subscription shows, with two replicas. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  addMember,
  type HttpClient,
  httpClient,
  must,
  opsToken,
  type Person,
  readMetric,
  register,
  setPlan,
  type TestApp,
  type TestResponse,
  testApp,
  until,
  untilServed,
} from '#libs/testing';
import { contracts } from '../../contracts.ts';
import { identity } from '../../testing/services.ts';

let app: TestApp;
let replica: HttpClient;

beforeAll(async () => {
  app = await testApp({
    ...{ services: [identity], contracts },
    environment: { DEFAULT_PLAN: 'trial', STORAGE_LIMITS_TRIAL: 'api_keys=5, pending_invitations=4' },
  });
  replica = await app.replica();
});
afterAll(() => app?.stop());

const createKey = ({ token }: Person, client: HttpClient = app) =>
  client.request('POST', '/api-keys', { as: token, body: { name: 'Key' } });
const invite = ({ token }: Person, email: string, client: HttpClient = app) =>
  client.request('POST', '/members/invitations', { as: token, body: { email } });

/** Sends 20 requests at once, to both replicas in turn. */
const send20 = (request: (at: number, client: HttpClient) => Promise<TestResponse>) =>
  Promise.all(Array.from({ length: 20 }, (_, at) => untilServed(() => request(at, at % 2 ? app : replica))));
const countStatuses = (responses: readonly TestResponse[], wanted: number) =>
  responses.filter(({ status }) => status === wanted).length;

async function readStorage({ token }: Person) {
  return (await must(app, 'GET', '/organization/subscription', { as: token })).storage;
}

describe('API keys', () => {
  test('20 concurrent creations with 3 places left create exactly 3 keys', async () => {
    const ada = await register(app);
    expect((await createKey(ada)).status).toBe(201);
    const responses = await send20((_, client) => createKey(ada, client));
    expect([countStatuses(responses, 201), countStatuses(responses, 402)]).toEqual([3, 17]);
    expect(responses.find(({ status }) => status === 402)?.body).toMatchObject({
      ...{ code: 'storage_quota_exhausted', storage_limit: 'api_keys', limit: 5, used: 5 },
      detail:
        'Your plan allows 5 API keys; 5 are used. Revoke API keys, or ask the operator for a larger plan.',
    });
    expect((await readStorage(ada)).api_keys).toEqual({ used: 5, limit: 5 });
    expect(await app.db.collection('api_keys').countDocuments({ organization_id: ada.organizationId })).toBe(
      5,
    );
  });

  test('a revoked key frees its place', async () => {
    const ada = await register(app);
    const created = [];
    for (let at = 1; at < 5; at += 1) created.push((await createKey(ada)).body.id);
    expect((await createKey(ada)).status).toBe(402);
    await must(app, 'DELETE', `/api-keys/${created[0]}`, { as: ada.token });
    expect((await createKey(ada)).status).toBe(201);
    expect((await createKey(ada)).status).toBe(402);
  });
});

describe('invitations', () => {
  test('20 concurrent invitations with 3 places left create exactly 3', async () => {
    const ada = await register(app);
    expect((await invite(ada, 'first@example.com')).status).toBe(201);
    const responses = await send20((at, client) => invite(ada, `guest-${at}@example.com`, client));
    expect([countStatuses(responses, 201), countStatuses(responses, 402)]).toEqual([3, 17]);
    expect((await readStorage(ada)).pending_invitations).toEqual({ used: 4, limit: 4 });
    // it replaces the older invitation
    expect((await invite(ada, 'first@example.com')).status).toBe(201);
  });

  test('only open invitations count', async () => {
    const ada = await register(app);
    for (let at = 0; at < 4; at += 1) expect((await invite(ada, `${at}@example.com`)).status).toBe(201);
    expect((await invite(ada, 'more@example.com')).status).toBe(402);
    const rows = app.db.collection('invitations');
    const first = { organization_id: ada.organizationId, email: '0@example.com' };
    await rows.updateOne(first, { $set: { expires_at: new Date(Date.now() - 1000) } });
    await addMember(app, (await register(app)).token);
    expect((await invite(ada, 'more@example.com')).status).toBe(201);
    // the older invitation that it would replace does not count
    expect((await invite(ada, '0@example.com')).status).toBe(402);
  });

  test('the operator may invite above the limit', async () => {
    const ada = await register(app);
    for (let at = 0; at < 4; at += 1) await invite(ada, `${at}@example.com`);
    const path = `/ops/organizations/${ada.organizationId}/invitations`;
    const options = { as: opsToken, body: { email: 'admin@example.com' } };
    expect((await httpClient(app.management).request('POST', path, options)).status).toBe(201);
  });
});

test('a rejected request is counted by limit', async () => {
  const ada = await register(app);
  for (let at = 1; at < 5; at += 1) await createKey(ada);
  const labels = { service: 'identity', limit: 'api_keys' };
  const before = await readMetric(app.management, 'quota_rejections_total', labels);
  await createKey(ada);
  expect(await readMetric(app.management, 'quota_rejections_total', labels)).toBe(before + 1);
});

test('a larger plan applies at once, a smaller one within seconds', async () => {
  const ada = await register(app);
  for (let at = 1; at < 5; at += 1) await createKey(ada);
  expect((await createKey(ada)).status).toBe(402);
  await setPlan(app, ada.organizationId, 'scale');
  expect((await createKey(ada)).status).toBe(201);
  await setPlan(app, ada.organizationId, 'trial');
  await until('the limit', async () => (await createKey(ada)).status === 402);
  const { body } = await app.request('GET', '/api-keys', { as: ada.token });
  expect(body.length).toBeGreaterThan(5);
});

test('a plan that was set before limits existed is unlimited', async () => {
  const ada = await register(app);
  const subscriptions = app.db.collection<{ _id: string }>('subscriptions');
  await subscriptions.updateOne({ _id: ada.organizationId }, { $unset: { storage_limits: 1 } });
  await until('the limits to be forgotten', async () => {
    const { status } = await createKey(ada);
    const { used } = (await readStorage(ada)).api_keys;
    return status === 201 && used > 5;
  });
  expect(await readStorage(ada)).toMatchObject({
    ...{ documents: { used: 0, limit: null }, document_bytes: { used: null, limit: null } },
    asset_bytes: { used: 0, limit: null },
    ...{ template_bytes: { used: 0, limit: null }, webhooks: { used: 0, limit: null } },
  });
});
