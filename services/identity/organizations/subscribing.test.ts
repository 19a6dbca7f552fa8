/** Subscriptions over HTTP with a real MongoDB: the operator sets plans on the management port. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { httpClient, opsToken, type Person, register, type TestApp, testApp } from '#libs/testing';
import { contracts } from '../../contracts.ts';
import { identity } from '../../testing/services.ts';

let app: TestApp;
let ada: Person;

beforeAll(async () => {
  app = await testApp({ services: [identity], contracts });
  ada = await register(app);
});
afterAll(() => app?.stop());

describe('the operator', () => {
  const put = (id: string, plan: unknown, token: string = opsToken, origin = app.management) =>
    httpClient(origin).request('PUT', `/ops/organizations/${id}/subscription`, { as: token, body: { plan } });

  test('the operator sets the plan on the management port only', async () => {
    const response = await put(ada.organizationId, 'team');
    expect(response.body).toMatchObject({
      plan: 'team',
      publish_limit: 200,
      publish_used: 0,
      renews_at: expect.stringMatching(/-01T00:00:00.000Z$/),
    });
    expect((await put(ada.organizationId, 'team', opsToken, app.origin)).status).toBe(404);
    expect(JSON.stringify((await app.request('GET', '/openapi.json')).body)).not.toContain('/ops/');
  });

  test('too many wrong tokens are 429 on the management port', async () => {
    const limited = await testApp({
      services: [identity],
      contracts,
      environment: { OPS_TOKEN_FAILURES_PER_MINUTE: '2' },
    });
    try {
      const statuses = [];
      for (const token of ['one', 'two', 'three', opsToken])
        statuses.push((await put(newId(), 'team', token, limited.management)).status);
      expect(statuses).toEqual([401, 401, 429, 429]);
    } finally {
      await limited.stop();
    }
  });

  test('other tokens are 401, unknown organizations 404, unknown plans 400', async () => {
    for (const token of ['nonsense', ada.key, ada.token])
      expect((await put(ada.organizationId, 'scale', token)).status).toBe(401);
    expect((await put(newId(), 'scale')).status).toBe(404);
    expect((await put('not-an-id', 'scale')).status).toBe(404);
    expect((await put(ada.organizationId, 'gold')).status).toBe(400);
  });
});
