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

interface Row {
  _id: string;
  [field: string]: unknown;
}

const rows = () => context.app.db.collection<Row>('webhook_deliveries');
const configs = () => context.app.db.collection<Row>('webhook_configs');

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
const delivered = { status: 200, body: { status: 'delivered', http_status: 204 } };

/** Sends a test, and runs `change` before the receiver responds. */
async function sendTestDuring({ id, port }: { id: string; port: number }, change: () => Promise<unknown>) {
  const receiver = await startReceiver(port);
  const arrival = receiver.hold();
  const response = sendTest(id);
  await arrival;
  await change();
  receiver.release();
  return response;
}

/** Runs `work` while MongoDB rejects rows of a collection that do not match `validator`. */
async function withValidator<R>(collection: string, validator: object, work: () => Promise<R>): Promise<R> {
  await context.app.db.command({ collMod: collection, validator });
  try {
    return await work();
  } finally {
    await context.app.db.command({ collMod: collection, validator: {} });
  }
}

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

test('a new URL of an inactive webhook leaves its deliveries postponed', async () => {
  const { id } = await createPostponed();
  const waiting = await countPostponed(id);
  const receiver = await startReceiver();
  await patch(id, { is_active: false });
  expect((await patch(id, { url: receiver.url })).status).toBe(200);
  expect(await countPostponed(id)).toBe(waiting);
});

test('a test of a webhook disabled meanwhile resumes no deliveries', async () => {
  const webhook = await createPostponed();
  const waiting = await countPostponed(webhook.id);
  const disable = () => patch(webhook.id, { is_active: false });
  expect(await sendTestDuring(webhook, disable)).toMatchObject(delivered);
  expect(await countPostponed(webhook.id)).toBe(waiting);
});

test('a test of a webhook that moved meanwhile changes nothing', async () => {
  const webhook = await createPostponed();
  const [filter, waiting] = [{ _id: webhook.id }, await countPostponed(webhook.id)];
  // in the database, because a request resets the circuit breaker itself
  const move = () => configs().updateOne(filter, { $set: { url: 'https://example.com/moved' } });
  const before = await configs().findOne(filter);
  expect(await sendTestDuring(webhook, move)).toMatchObject(delivered);
  expect(await configs().findOne(filter)).toEqual({ ...before, url: 'https://example.com/moved' });
  expect(await countPostponed(webhook.id)).toBe(waiting);
});

test('a failed reset of the breakers is logged and the test succeeds', async () => {
  const receiver = await startReceiver();
  const { id } = await context.createWebhook(ada, receiver.url);
  const validator = { breaker_generation: { $exists: false } };
  expect(await withValidator('webhook_configs', validator, () => sendTest(id))).toMatchObject(delivered);
  const msg = `Could not close the circuit breakers of webhook ${id}`;
  expect(context.app.logLines()).toContainEqual(expect.objectContaining({ msg }));
});

test('a failed resume is logged and the update of the webhook succeeds', async () => {
  const { id } = await createPostponed();
  const waiting = await countPostponed(id);
  const receiver = await startReceiver();
  const validator = { $or: [{ status: { $ne: 'pending' } }, { postponed: true }] };
  const update = () => patch(id, { url: receiver.url });
  expect((await withValidator('webhook_deliveries', validator, update)).status).toBe(200);
  expect(await countPostponed(id)).toBe(waiting);
  const msg = `Could not resume the deliveries of webhook ${id}`;
  expect(context.app.logLines()).toContainEqual(expect.objectContaining({ msg }));
});
