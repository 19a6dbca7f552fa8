/** Webhooks of `document.updated`, over HTTP with a real receiver. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Person, until } from '#libs/testing';
import { services } from '../services.ts';
import { type WebhookReceiver, webhookReceiver } from './testing/receiver.ts';
import { type TestContext, testContext } from './testing/test-context.ts';

let home: TestContext;
let ada: Person;
let there: WebhookReceiver;

beforeAll(async () => {
  home = await testContext(services);
  ada = await home.createTenant();
  there = await webhookReceiver();
}, 60_000);
afterAll(async () => {
  await there?.close();
  await home?.app.stop();
});

const ask = (method: string, path: string, body?: unknown) =>
  home.app.request(method, path, { as: ada.key, ...(body !== undefined && { body }) });

/** Invites somebody to the organization; gives their access token and id. */
async function joinAs(email: string): Promise<{ as: string; id: string }> {
  const invited = await ask('POST', '/members/invitations', { email });
  const body = { token: invited.body.token, name: 'Member', password: 'correct horse battery staple' };
  const joined = await home.app.request('POST', '/members/invitations/accept', { body });
  return { as: joined.body.access_token, id: joined.body.member.id };
}

test('document.updated reaches a subscribed webhook and no inbox', async () => {
  const editor = await joinAs('editor@example.com');
  const { id: configId } = await home.createWebhook(ada, there.url, ['document.updated']);
  const documentId = await home.publish(ada);
  await ask('PATCH', `/documents/${documentId}/editor`, { editor_id: editor.id });
  await ask('PATCH', `/documents/${documentId}`, { title: 'Changed' });
  await ask('POST', `/documents/${documentId}/nodes`, { node_type: 'section', title: 'S', order: 0 });
  const [entry] = await home.untilSettled(ada, 1);
  const { nodes, ...summary } = (await ask('GET', `/documents/${documentId}`)).body;
  const [got, ...others] = there.received;

  expect([others, nodes.length, summary.title]).toEqual([[], 1, 'Changed']);
  expect(JSON.parse(got?.body ?? '')).toEqual({
    id: entry?.event_id,
    event_type: 'document.updated',
    timestamp: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
    organization_id: ada.organizationId,
    data: { document: summary },
  });
  expect(got?.headers['x-service-event']).toBe('document.updated');
  expect(entry).toMatchObject({ status: 'delivered', config_id: configId, document_id: documentId });

  const outbox = home.app.db.collection<{ _id: string }>('documents_outbox');
  const handled = { _id: entry?.event_id ?? '', pending: { $exists: false } };
  await until('every consumer has the event', () => outbox.findOne(handled));
  const inbox = await home.app.request('GET', '/inbox', { as: editor.as });
  expect(inbox.body.map(({ type }: { type: string }) => type)).toEqual(['document.assigned']);
});

test('webhooks can be created and updated with document.updated', async () => {
  const { id } = await home.createWebhook(ada, there.url, ['document.updated', 'document.archived']);
  const changed = await ask('PATCH', `/webhooks/${id}`, { event_types: ['document.updated'] });
  expect([changed.status, changed.body.event_types]).toEqual([200, ['document.updated']]);
  const log = await ask('GET', '/webhooks/events?event_type=document.updated');
  expect(log.status).toBe(200);
});

test('trigger-webhooks rejects document.updated', async () => {
  const id = await home.publish(ada);
  const { status, body } = await ask('POST', `/documents/${id}/trigger-webhooks`, {
    event_type: 'document.updated',
  });
  expect([status, body.code]).toEqual([400, 'invalid_request']);
});
