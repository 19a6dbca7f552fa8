/** F3 and F4: each event reaches its webhook once if RabbitMQ is killed or comes back empty. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import {
  ownRabbit,
  type Person,
  type RabbitBroker,
  until,
  untilReady,
  type WebhookReceiver,
  webhookReceiver,
} from '#libs/testing';
import { services } from '../../services/testing/services.ts';
import { type TestContext, testContext } from '../../services/webhook-delivery/testing/test-context.ts';
import { findDatabaseViolations } from './violations.ts';

let rabbit: RabbitBroker;
let context: TestContext;
let ada: Person;
let receiver: WebhookReceiver;

beforeAll(async () => {
  rabbit = await ownRabbit();
  context = await testContext(services, { AMQP_URL: rabbit.url });
}, 400_000);
beforeEach(async () => {
  receiver = await webhookReceiver();
  ada = await context.createTenant();
  await context.createWebhook(ada, receiver.url);
});
afterEach(() => receiver?.close());
afterAll(async () => {
  await context?.app.stop();
  await rabbit?.stop();
});

/** Publishes new documents one after the other. Rejects if a response is not 200. */
async function publishDocuments(count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) ids.push(await context.publish(ada));
  return ids;
}

const getDeliveredIds = () =>
  receiver.received.map(({ body }) => JSON.parse(body).data.document.id as string);

/** Waits until each document was delivered, and checks that none was delivered twice and all rows agree. */
async function expectDeliveredOnce(ids: readonly string[]): Promise<void> {
  await until('all documents', async () => ids.every((id) => getDeliveredIds().includes(id)));
  const entries = await context.untilSettled(ada, ids.length);
  expect(entries.map(({ status }) => status)).toEqual(ids.map(() => 'delivered'));
  expect(getDeliveredIds().sort()).toEqual([...ids].sort());
  expect(await findDatabaseViolations(context.app.db)).toEqual([]);
}

/** Waits until all outbox rows are marked as published. */
const waitForEmptyOutbox = () =>
  until(
    'an empty outbox',
    async () => (await context.app.db.collection('documents_outbox').countDocuments({ pending: true })) === 0,
  );

test('requests succeed while RabbitMQ is down, and all events follow later', async () => {
  const before = await publishDocuments(3);
  await rabbit.settle();
  await rabbit.kill();
  const meanwhile = await publishDocuments(10);
  const degraded = { events: 'the event bus is down' };
  await untilReady(context.app.management, { status: 'ready', degraded });
  await rabbit.start();
  const after = await publishDocuments(3);
  await expectDeliveredOnce([...before, ...meanwhile, ...after]);
});

test('no event is lost or repeated if RabbitMQ restarts empty under load', async () => {
  const [first] = await publishDocuments(1);
  const publishing = publishDocuments(40);
  await until('ten deliveries', async () => receiver.received.length > 10);
  await rabbit.start({ empty: true });
  await expectDeliveredOnce([...(first ? [first] : []), ...(await publishing)]);
  await waitForEmptyOutbox();
  await untilReady(context.app.management, { status: 'ready' });
});
