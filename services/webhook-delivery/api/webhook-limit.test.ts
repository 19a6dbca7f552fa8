/** Tests the limit of webhooks that the operator sets for a plan, with two replicas. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type HttpClient, must, readMetric, register, type TestApp, testApp } from '#libs/testing';
import { contracts } from '../../contracts.ts';
import { identity } from '../../testing/services.ts';
import { webhookDelivery } from '../service.ts';

let app: TestApp;
let replica: HttpClient;

beforeAll(async () => {
  app = await testApp({
    ...{ services: [identity, webhookDelivery], contracts },
    environment: { STORAGE_LIMITS_SCALE: 'webhooks=5' },
  });
  replica = await app.replica();
});
afterAll(() => app?.stop());

/** A public address, so that no test needs a name server. */
const body = { name: 'CRM', url: 'https://93.184.215.14/hook', event_types: ['document.published'] };
const create = (as: string, client: HttpClient = app) => client.request('POST', '/webhooks', { as, body });

test('20 concurrent requests with 3 places left create 3 webhooks', async () => {
  const { key: as } = await register(app);
  for (let at = 0; at < 2; at += 1) expect((await create(as)).status).toBe(201);
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, at) => create(as, at % 2 ? app : replica)),
  );
  const rejected = responses.filter(({ status }) => status === 402);
  expect([responses.filter(({ status }) => status === 201).length, rejected.length]).toEqual([3, 17]);
  expect(rejected[0]?.body).toMatchObject({
    ...{ code: 'storage_quota_exhausted', storage_limit: 'webhooks', limit: 5, used: 5 },
    detail:
      'Your plan allows 5 webhooks; 5 are used. Delete webhooks, or ask the operator for a larger plan.',
  });
  const { storage } = await must(app, 'GET', '/organization/subscription', { as });
  expect(storage.webhooks).toEqual({ used: 5, limit: 5 });
  const labels = { service: 'webhook-delivery', limit: 'webhooks' };
  expect(await readMetric(app.management, 'quota_rejections_total', labels)).toBeGreaterThan(0);
});

test('a deleted webhook frees its place', async () => {
  const { key: as } = await register(app);
  const created = [];
  for (let at = 0; at < 5; at += 1) created.push((await create(as)).body.id);
  expect((await create(as)).status).toBe(402);
  await must(app, 'PATCH', `/webhooks/${created[0]}`, { as, body: { name: 'Renamed' } });
  await must(app, 'DELETE', `/webhooks/${created[0]}`, { as });
  expect((await create(as)).status).toBe(201);
});
