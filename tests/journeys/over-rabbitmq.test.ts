/** The five services over RabbitMQ: what was published reaches its webhook once, whatever happens to the broker meanwhile. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { ownRabbit, type Person, type RabbitBroker, until } from '#libs/testing';
import { services } from '../../services/services.ts';
import { type WebhookReceiver, webhookReceiver } from '../../services/webhook-delivery/testing/receiver.ts';
import { type TestContext, testContext } from '../../services/webhook-delivery/testing/test-context.ts';

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

/** Publishes new documents one after the other; each answer must be 200. */
async function publishDocuments(count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) ids.push(await context.publish(ada));
  return ids;
}

const getDeliveredIds = () =>
  receiver.received.map(({ body }) => JSON.parse(body).data.document.id as string);

/** Waits until each document has arrived, and checks that none has twice. */
async function expectDeliveredOnce(ids: readonly string[]): Promise<void> {
  await until('all of them', async () => ids.every((id) => getDeliveredIds().includes(id)), 40_000);
  const entries = await context.untilSettled(ada, ids.length);
  expect(entries.map(({ status }) => status)).toEqual(ids.map(() => 'delivered'));
  expect(getDeliveredIds().sort()).toEqual([...ids].sort());
}

async function getHealth(): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${context.app.management}/readyz`);
  return { status: response.status, body: await response.json() };
}

/** All that was published is marked, so that only the broker knows what is not yet handled. */
const waitForEmptyOutbox = () =>
  until(
    'an empty outbox',
    async () => (await context.app.db.collection('documents_outbox').countDocuments({ pending: true })) === 0,
    20_000,
  );

test('a published document reaches its webhook', async () => {
  await expectDeliveredOnce(await publishDocuments(5));
  expect(await getHealth()).toEqual({ status: 200, body: { status: 'ready' } });
}, 60_000);

test('while RabbitMQ is away everything is answered, and all of it is delivered once it is back', async () => {
  const before = await publishDocuments(3);
  await rabbit.settle();
  await rabbit.kill();
  const meanwhile = await publishDocuments(10);
  expect(await getHealth()).toEqual({
    status: 200,
    body: { status: 'ready', degraded: { events: 'the event bus is down' } },
  });
  await rabbit.start();
  const after = await publishDocuments(3);
  await expectDeliveredOnce([...before, ...meanwhile, ...after]);
}, 90_000);

test('a RabbitMQ that is killed in the midst of it and comes back empty loses and repeats nothing', async () => {
  const [first] = await publishDocuments(1);
  const going = publishDocuments(40);
  await until('some of it', async () => receiver.received.length > 10);
  await rabbit.start({ empty: true });
  await expectDeliveredOnce([...(first ? [first] : []), ...(await going)]);
  await waitForEmptyOutbox();
  expect(await getHealth()).toEqual({ status: 200, body: { status: 'ready' } });
}, 90_000);
