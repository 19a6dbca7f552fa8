/** Tests webhooks for `document.updated`, over HTTP with a real receiver. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { addMember, type Person, until, type WebhookReceiver, webhookReceiver } from '#libs/testing';
import { services } from '../../testing/services.ts';
import { type TestContext, testContext } from '../testing/test-context.ts';

let context: TestContext;
let ada: Person;
let receiver: WebhookReceiver;
/** The time of the services, Unix ms. It stands still, so that no event is due before all changes are made. */
let nowMs = Date.now();

beforeAll(async () => {
  context = await testContext(services, {}, () => new Date(nowMs));
  ada = await context.createTenant();
  receiver = await webhookReceiver();
});
afterAll(async () => {
  await receiver?.close();
  await context?.app.stop();
});

const send = (method: string, path: string, body?: unknown) =>
  context.app.request(method, path, { as: ada.key, ...(body !== undefined && { body }) });

test('document.updated reaches a subscribed webhook and no inbox', async () => {
  const editor = await addMember(context.app, ada.key);
  const { id: configId } = await context.createWebhook(ada, receiver.url, ['document.updated']);
  const documentId = await context.publish(ada);
  await send('PATCH', `/documents/${documentId}/editor`, { editor_id: editor.userId });
  await send('PATCH', `/documents/${documentId}`, { title: 'Changed' });
  await send('POST', `/documents/${documentId}/nodes`, { node_type: 'section', title: 'S', order: 0 });
  nowMs += 5_000;
  const [entry] = await context.untilSettled(ada, 1);
  const { nodes, ...summary } = (await send('GET', `/documents/${documentId}`)).body;
  const [request, ...others] = receiver.received;

  expect([others, nodes.length, summary.title]).toEqual([[], 1, 'Changed']);
  expect(JSON.parse(request?.body ?? '')).toEqual({
    id: entry?.event_id,
    event_type: 'document.updated',
    timestamp: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
    organization_id: ada.organizationId,
    data: { document: summary },
  });
  expect(request?.headers['x-service-event']).toBe('document.updated');
  expect(entry).toMatchObject({ status: 'delivered', config_id: configId, document_id: documentId });

  const outbox = context.app.db.collection<{ _id: string }>('documents_outbox');
  const consumed = { _id: entry?.event_id ?? '', pending: { $exists: false } };
  await until('every consumer to have the event', () => outbox.findOne(consumed));
  const inbox = await context.app.request('GET', '/inbox', { as: editor.token });
  expect(inbox.body.map(({ type }: { type: string }) => type)).toEqual(['document.assigned']);
});

test('webhooks can be created and updated with document.updated', async () => {
  const { id } = await context.createWebhook(ada, receiver.url, ['document.updated', 'document.archived']);
  const changed = await send('PATCH', `/webhooks/${id}`, { event_types: ['document.updated'] });
  expect([changed.status, changed.body.event_types]).toEqual([200, ['document.updated']]);
  const log = await send('GET', '/webhooks/events?event_type=document.updated');
  expect(log.status).toBe(200);
});

test('trigger-webhooks rejects document.updated', async () => {
  const id = await context.publish(ada);
  const { status, body } = await send('POST', `/documents/${id}/trigger-webhooks`, {
    event_type: 'document.updated',
  });
  expect([status, body.code]).toEqual([400, 'invalid_request']);
});
