/** The five services over RabbitMQ: what was published reaches its webhook once, whatever happens to the broker meanwhile. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { ownRabbit, type Person, type RabbitBroker, until } from '#libs/testing';
import { services } from '../../services/services.ts';
import { type WebhookReceiver, webhookReceiver } from '../../services/webhook-delivery/testing/receiver.ts';
import { type TestContext, testContext } from '../../services/webhook-delivery/testing/test-context.ts';

let rabbit: RabbitBroker;
let home: TestContext;
let ada: Person;
let there: WebhookReceiver;

beforeAll(async () => {
  rabbit = await ownRabbit();
  home = await testContext(services, { AMQP_URL: rabbit.url });
}, 400_000);
beforeEach(async () => {
  there = await webhookReceiver();
  ada = await home.createTenant();
  await home.createWebhook(ada, there.url);
});
afterEach(() => there?.close());
afterAll(async () => {
  await home?.app.stop();
  await rabbit?.stop();
});

/** Publishes new documents one after the other; each answer must be 200. */
async function publishing(count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let made = 0; made < count; made += 1) ids.push(await home.publish(ada));
  return ids;
}

const delivered = () => there.received.map(({ body }) => JSON.parse(body).data.document.id as string);

/** Waits until each document has arrived, and checks that none has twice. */
async function arrivedOnce(ids: readonly string[]): Promise<void> {
  await until('all of them', async () => ids.every((id) => delivered().includes(id)), 40_000);
  const entries = await home.untilSettled(ada, ids.length);
  expect(entries.map(({ status }) => status)).toEqual(ids.map(() => 'delivered'));
  expect(delivered().sort()).toEqual([...ids].sort());
}

async function health(): Promise<{ status: number; body: unknown }> {
  const told = await fetch(`${home.app.management}/readyz`);
  return { status: told.status, body: await told.json() };
}

/** All that was published is marked, so that only the broker knows what is not yet handled. */
const nothingPending = () =>
  until(
    'an empty outbox',
    async () => (await home.app.db.collection('documents_outbox').countDocuments({ pending: true })) === 0,
    20_000,
  );

test('a published document reaches its webhook', async () => {
  await arrivedOnce(await publishing(5));
  expect(await health()).toEqual({ status: 200, body: { status: 'ready' } });
}, 60_000);

test('while RabbitMQ is away everything is answered, and all of it is delivered once it is back', async () => {
  const before = await publishing(3);
  await rabbit.settle();
  await rabbit.kill();
  const meanwhile = await publishing(10);
  expect(await health()).toEqual({
    status: 200,
    body: { status: 'ready', degraded: { events: 'the event bus is down' } },
  });
  await rabbit.start();
  const after = await publishing(3);
  await arrivedOnce([...before, ...meanwhile, ...after]);
}, 90_000);

test('a RabbitMQ that is killed in the midst of it and comes back empty loses and repeats nothing', async () => {
  const [first] = await publishing(1);
  const going = publishing(40);
  await until('some of it', async () => there.received.length > 10);
  await rabbit.start({ empty: true });
  await arrivedOnce([...(first ? [first] : []), ...(await going)]);
  await nothingPending();
  expect(await health()).toEqual({ status: 200, body: { status: 'ready' } });
}, 90_000);
