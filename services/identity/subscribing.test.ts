/** Subscriptions over HTTP with a real MongoDB: the operator sets plans on the management port. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { httpClient, opsToken, type Person, register, type TestApp, testApp } from '#libs/testing';
import { contracts } from '../contracts.ts';
import { identity } from '../testing/services.ts';
import { PlanChanged } from './events.ts';

let app: TestApp;
let ada: Person;

beforeAll(async () => {
  // no service consumes PlanChanged yet, and events without a consumer are not written to the outbox
  const contractsWithConsumer = contracts.map((contract) =>
    contract.name === 'documents' ? { ...contract, consumes: [...contract.consumes, PlanChanged] } : contract,
  );
  app = await testApp({ services: [identity], contracts: contractsWithConsumer });
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

  test('a plan change is published, a rejected one is not', async () => {
    const { organizationId } = await register(app);
    await put(organizationId, 'team');
    await put(organizationId, 'scale');
    await put(organizationId, 'gold');
    const rows = await app.db.collection('identity_outbox').find({ type: PlanChanged.name }).toArray();
    const events = rows
      .map(({ event }) => JSON.parse(event))
      .filter((event) => event.organization_id === organizationId);
    expect(events.map(({ data, actor_id }) => [data, actor_id])).toEqual([
      [{ plan: 'team', publish_limit: 200 }, null],
      [{ plan: 'scale', publish_limit: null }, null],
    ]);
  });

  test('other tokens are 401, unknown organizations 404, unknown plans 400', async () => {
    for (const token of ['nonsense', ada.key, ada.token])
      expect((await put(ada.organizationId, 'scale', token)).status).toBe(401);
    expect((await put(newId(), 'scale')).status).toBe(404);
    expect((await put('not-an-id', 'scale')).status).toBe(404);
    expect((await put(ada.organizationId, 'gold')).status).toBe(400);
  });
});
