/** The operator over HTTP with a real MongoDB: plans are set on the management port. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { opsToken, type Person, register, type TestApp, testApp } from '#libs/testing';
import { contracts } from '../contracts.ts';
import { PlanChanged } from './events.ts';
import { identity } from './service.ts';

let here: TestApp;
let ada: Person;

beforeAll(async () => {
  // nobody hears of plans yet, and what nobody hears is not written
  const hearing = contracts.map((one) =>
    one.name === 'documents' ? { ...one, consumes: [...one.consumes, PlanChanged] } : one,
  );
  here = await testApp({ services: [identity], contracts: hearing });
  ada = await register(here);
}, 60_000);
afterAll(() => here?.stop());

describe('the operator', () => {
  const put = (id: string, plan: unknown, token: string = opsToken, origin = here.management) =>
    fetch(`${origin}/ops/organizations/${id}/subscription`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ plan }),
    });

  test('sets the plan on the management port, and on no other', async () => {
    const response = await put(ada.organizationId, 'team');
    expect(await response.json()).toMatchObject({
      plan: 'team',
      publish_limit: 200,
      publish_used: 0,
      renews_at: expect.stringMatching(/-01T00:00:00.000Z$/),
    });
    expect((await put(ada.organizationId, 'team', opsToken, here.origin)).status).toBe(404);
    expect(JSON.stringify((await here.request('GET', '/openapi.json')).body)).not.toContain('/ops/');
  });

  test('a plan that was set is said to whoever hears it; one that was refused is not', async () => {
    const { organizationId } = await register(here);
    await put(organizationId, 'team');
    await put(organizationId, 'scale');
    await put(organizationId, 'gold');
    const rows = await here.db.collection('identity_outbox').find({ type: PlanChanged.name }).toArray();
    const said = rows
      .map(({ event }) => JSON.parse(event))
      .filter((event) => event.organization_id === organizationId);
    expect(said.map(({ data, actor_id }) => [data, actor_id])).toEqual([
      [{ plan: 'team', publish_limit: 200 }, null],
      [{ plan: 'scale', publish_limit: null }, null],
    ]);
  });

  test('is nobody else: other tokens are 401, unknown organizations 404, unknown plans 400', async () => {
    for (const token of ['nonsense', ada.key, ada.token])
      expect((await put(ada.organizationId, 'scale', token)).status).toBe(401);
    expect((await put(newId(), 'scale')).status).toBe(404);
    expect((await put('not-an-id', 'scale')).status).toBe(404);
    expect((await put(ada.organizationId, 'gold')).status).toBe(400);
  });
});
