/** Tests what closes an open circuit breaker before its pause ends, over HTTP with real receivers. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { freePorts, type Person, until, type WebhookReceiver, webhookReceiver } from '#libs/testing';
import { documents } from '../../documents/service.ts';
import { identity } from '../../testing/services.ts';
import { webhookDelivery } from '../service.ts';
import { enqueueDeliveries } from '../testing/backlog.ts';
import { type TestContext, testContext } from '../testing/test-context.ts';

const deliveries = 20;

let context: TestContext;
let ada: Person;
const open: WebhookReceiver[] = [];

beforeAll(async () => {
  // no pause ends during a test
  const environment = { WEBHOOK_CIRCUIT_BREAKER_SECONDS: '3600,3600' };
  context = await testContext([identity, documents, webhookDelivery], environment);
});
beforeEach(async () => {
  ada = await context.createTenant();
});
afterAll(() => context?.app.stop());
afterEach(async () => {
  for (const receiver of open.splice(0)) await receiver.close();
});

const rows = () => context.app.db.collection<{ _id: string; [field: string]: unknown }>('webhook_deliveries');

async function startReceiver(port = 0): Promise<WebhookReceiver> {
  const receiver = await webhookReceiver(undefined, { port });
  open.push(receiver);
  return receiver;
}

/** Creates a webhook whose receiver is unreachable, and deliveries that wait for its circuit breaker. */
async function createPostponed(): Promise<{ id: string; port: number }> {
  const [port = 0] = await freePorts(1);
  const { id } = await context.createWebhook(ada, `http://127.0.0.1:${port}/hook`, ['document.archived']);
  await enqueueDeliveries(context.app.db, [{ id, organization_id: ada.organizationId }], deliveries);
  await until('the postponement', async () => {
    const waiting = await rows().find({ config_id: id, status: 'pending' }).toArray();
    return waiting.length > 0 && waiting.every(({ postponed }) => postponed === true);
  });
  return { id, port };
}

const countPostponed = (config_id: string) => rows().countDocuments({ config_id, postponed: true });
const countPending = (config_id: string) => rows().countDocuments({ config_id, status: 'pending' });
const patch = (id: string, body: object) =>
  context.app.request('PATCH', `/webhooks/${id}`, { as: ada.key, body });
const sendTest = (id: string) => context.app.request('POST', `/webhooks/${id}/test`, { as: ada.key });

test('postponed deliveries are sent to a new URL at once', async () => {
  const { id } = await createPostponed();
  const waiting = await countPostponed(id);
  const receiver = await startReceiver();
  await patch(id, { name: 'Wiki' });
  expect(await countPostponed(id)).toBe(waiting);
  expect((await patch(id, { url: receiver.url })).status).toBe(200);
  await until('the deliveries', async () => (await countPending(id)) === 0);
  expect(receiver.received).toHaveLength(waiting);
});

test('postponed deliveries are sent when their webhook is enabled again', async () => {
  const { id, port } = await createPostponed();
  const waiting = await countPostponed(id);
  const receiver = await startReceiver(port);
  await patch(id, { is_active: false });
  expect(await countPostponed(id)).toBe(waiting);
  await patch(id, { is_active: true });
  await until('the deliveries', async () => (await countPending(id)) === 0);
  expect(receiver.received).toHaveLength(waiting);
});

test('a test with a response sends the postponed deliveries', async () => {
  const { id, port } = await createPostponed();
  const waiting = await countPostponed(id);
  expect((await sendTest(id)).body).toEqual({ status: 'failed', http_status: null });
  expect(await countPostponed(id)).toBe(waiting);
  const receiver = await startReceiver(port);
  expect((await sendTest(id)).body).toEqual({ status: 'delivered', http_status: 204 });
  await until('the deliveries', async () => (await countPending(id)) === 0);
  // one more request: the test
  expect(receiver.received).toHaveLength(waiting + 1);
});

test('a test of an inactive webhook leaves its deliveries postponed', async () => {
  const { id, port } = await createPostponed();
  const waiting = await countPostponed(id);
  await startReceiver(port);
  await patch(id, { is_active: false });
  await sendTest(id);
  expect(await countPostponed(id)).toBe(waiting);
});
