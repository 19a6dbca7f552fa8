/** Tests one story over RabbitMQ: what a member writes reaches the other services, their inbox and a webhook. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { connect } from 'amqplib';
import {
  addMember,
  requestOrThrow,
  type TestRabbit,
  testRabbit,
  until,
  untilReady,
  type WebhookReceiver,
  webhookReceiver,
} from '#libs/testing';
import { deleteQueues } from '../../libs/testing/amqp-fixture.ts';
import { services } from '../../services/testing/services.ts';
import { type TestContext, testContext } from '../../services/webhook-delivery/testing/test-context.ts';

const prefix = `test-${randomBytes(4).toString('hex')}.`;
let rabbit: TestRabbit;
let context: TestContext;
let receiver: WebhookReceiver;

beforeAll(async () => {
  [rabbit, receiver] = await Promise.all([testRabbit(), webhookReceiver()]);
  context = await testContext(services, { AMQP_URL: rabbit.url, AMQP_PREFIX: prefix });
});
afterAll(async () => {
  await context?.app.stop();
  await receiver?.close();
  const broker = await connect(rabbit.url);
  await deleteQueues(
    await broker.createChannel(),
    prefix,
    services.map(({ contract }) => contract.name),
  );
  await broker.close();
});

test('a member writes, an admin publishes and archives, and all are told', async () => {
  const { app } = context;
  const admin = await context.createTenant();
  await context.createWebhook(admin, receiver.url, ['document.published', 'document.archived']);
  const member = await addMember(app, admin.token);
  const ask = async (as: string, method: string, path: string, body?: unknown) =>
    (await requestOrThrow(app, method, path, { as, body })).body;
  const section = {
    node_type: 'section',
    title: 'Before work',
    children: [{ node_type: 'step', title: 'Check' }],
  };
  const { id } = await ask(member.token, 'POST', '/documents', { title: 'Crane', nodes: [section] });
  await ask(admin.token, 'POST', `/documents/${id}/publish`);
  const { token } = await ask(admin.token, 'POST', `/documents/${id}/share-token`);

  const inbox = await until('the notification of the author', async () => {
    const items: unknown[] = await ask(member.token, 'GET', '/inbox');
    return items.length > 0 && items;
  });
  expect(inbox).toMatchObject([{ type: 'document.published', data: { document_id: id } }]);
  const shared = await app.request('GET', `/embed/${admin.slug}/${token}`);
  expect(shared.body).toMatchObject({ title: 'Crane' });
  const { bytes } = await requestOrThrow(app, 'GET', `/documents/${id}/export/markdown`, { as: admin.token });
  expect(new TextDecoder().decode(bytes)).toContain('Before work');

  await ask(admin.token, 'POST', `/documents/${id}/archive`);
  await until('the closed link', async () => {
    const { status } = await app.request('GET', `/embed/${admin.slug}/${token}`);
    return status === 404 || status === 410;
  });
  const entries = await context.untilSettled(admin, 2);
  expect(entries.map((entry) => `${entry.event_type} ${entry.status}`).sort()).toEqual([
    'document.archived delivered',
    'document.published delivered',
  ]);
  expect(receiver.received.map(({ headers }) => headers['x-service-event']).sort()).toEqual([
    'document.archived',
    'document.published',
  ]);
  await untilReady(app.management, { status: 'ready' });
});
