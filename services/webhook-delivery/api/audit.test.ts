/**
 * Tests the audit lines of webhook operations over HTTP: actor, action and host, but no secret and no full
 * URL.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import {
  auditRecorder,
  documentedEvents,
  noActor,
  type Person,
  recordedEvents,
  sortByEvent,
} from '#libs/testing';
import { documents } from '../../documents/service.ts';
import { identity } from '../../testing/services.ts';
import { webhookDelivery } from '../service.ts';
import { type TestContext, testContext } from '../testing/test-context.ts';

const token = 'T0KEN-OF-THE-RECEIVER';
const url = `https://93.184.215.14:8443/${token}?key=${token}`;
const host = '93.184.215.14:8443';
const event_types = ['document.published', 'document.archived'];

let context: TestContext;
let log: ReturnType<typeof auditRecorder>;
let ada: Person;
let actor: object;

beforeAll(async () => {
  context = await testContext([identity, documents, webhookDelivery], { TRUSTED_PROXIES: '127.0.0.0/8' });
  log = auditRecorder(context.app, webhookDelivery.contract);
});
beforeEach(async () => {
  ada = await context.createTenant();
  actor = { actor_id: ada.userId, organization_id: ada.organizationId, key_id: null };
});
afterAll(() => context?.app.stop());

const send = (method: string, path: string, body?: unknown, headers = {}) =>
  log.request(method, path, { as: ada.token, body, headers });
const createWebhook = (options: object = {}, headers = {}) =>
  send('POST', '/webhooks', { name: 'ERP', url, event_types, ...options }, headers);

describe('security log of webhooks', () => {
  test('creating a webhook logs actor, event types and host, even if rejected', async () => {
    const created = await createWebhook();
    const line = { event: 'webhook.create', ...actor, event_types };
    expect(created.lines).toEqual([{ ...line, outcome: 'done', host, webhook_id: created.body.id }]);
    const rejected = await createWebhook({ url: `https://10.0.0.1/${token}` });
    expect(rejected.lines).toEqual([{ ...line, outcome: 'invalid_request', host: '10.0.0.1' }]);
  });

  test('creating with an API key logs the key, and a replay logs its outcome', async () => {
    const [{ id: key_id }] = (await context.app.request('GET', '/api-keys', { as: ada.token })).body;
    const headers = { 'idempotency-key': newId() };
    const create = () =>
      log.request('POST', '/webhooks', { as: ada.key, body: { name: 'ERP', url, event_types }, headers });
    const line = { event: 'webhook.create', ...actor, key_id };
    const created = await create();
    expect(created.lines).toEqual([
      { ...line, outcome: 'done', webhook_id: created.body.id, host, event_types },
    ]);
    expect((await create()).lines).toEqual([{ ...line, outcome: 'replayed' }]);
  });

  test('updating a webhook logs the changed fields and the new host', async () => {
    const webhook_id = (await createWebhook()).body.id;
    const change = async (body: object) => (await send('PATCH', `/webhooks/${webhook_id}`, body)).lines;
    const line = { event: 'webhook.update', outcome: 'done', ...actor, webhook_id };
    expect(await change({ name: token })).toEqual([{ ...line, changed: ['name'] }]);
    expect(await change({ url: `https://93.184.215.15/${token}`, is_active: false })).toEqual([
      { ...line, changed: ['url', 'is_active'], host: '93.184.215.15', is_active: false },
    ]);
    expect(await change({ event_types: ['member.joined'] })).toEqual([
      { ...line, changed: ['event_types'], event_types: ['member.joined'] },
    ]);
  });

  test('rotating a secret logs the overlap, and deleting logs the outcome', async () => {
    const webhook_id = (await createWebhook()).body.id;
    const rotate = async (body?: object) =>
      (await send('POST', `/webhooks/${webhook_id}/rotate-secret`, body)).lines;
    const line = { event: 'webhook_secret.rotate', outcome: 'done', ...actor, webhook_id };
    expect(await rotate()).toEqual([{ ...line, overlap_seconds: 86_400 }]);
    expect(await rotate({ overlap_seconds: 0 })).toEqual([{ ...line, overlap_seconds: 0 }]);

    const remove = async () => (await send('DELETE', `/webhooks/${webhook_id}`)).lines;
    const removal = { event: 'webhook.delete', ...actor, webhook_id };
    expect(await remove()).toEqual([{ ...removal, outcome: 'done' }]);
    expect(await remove()).toEqual([{ ...removal, outcome: 'not_found' }]);
  });

  test('creating and deleting a listener log its id', async () => {
    const created = await send('POST', '/webhooks/listeners');
    const line = { ...actor, outcome: 'done', listener_id: created.body.id };
    expect(created.lines).toEqual([{ event: 'webhook_listener.create', ...line }]);
    const deleted = await send('DELETE', `/webhooks/listeners/${created.body.id}`);
    expect(deleted.lines).toEqual([{ event: 'webhook_listener.delete', ...line }]);
  });

  test('rejected callers are logged, without an actor if the key is unknown', async () => {
    const webhook_id = (await createWebhook()).body.id;
    const eve = await context.createTenant();
    const body = { name: 'Mine' };
    const foreign = await log.request('PATCH', `/webhooks/${webhook_id}`, { as: eve.key, body });
    expect(foreign.lines).toEqual([
      expect.objectContaining({ event: 'webhook.update', outcome: 'not_found', actor_id: eve.userId }),
    ]);
    const unauthenticated = await log.request('DELETE', `/webhooks/${webhook_id}`, { as: 'nobody' });
    expect(unauthenticated.lines).toEqual([
      { event: 'webhook.delete', outcome: 'unauthenticated', ...noActor },
    ]);
  });
});

test('no audit line contains the path or query of a webhook URL', async () => {
  await createWebhook();
  const audited = context.app.logLines().filter(({ audit }) => audit === true);
  expect(audited.map(({ event }) => event)).toContain('webhook.create');
  expect(JSON.stringify(audited)).not.toContain(token);
});

test('docs/security-log.md lists all webhook audit events and their fields', async () => {
  const page = await documentedEvents(new URL('../../../docs/security-log.md', import.meta.url));
  const own = webhookDelivery.contract.operations.flatMap(({ audit }) => audit ?? []);
  expect(own.length).toBeGreaterThan(0);
  expect(page.filter(({ event }) => own.includes(event))).toEqual(
    sortByEvent(recordedEvents(webhookDelivery.contract, log.details)),
  );
});
