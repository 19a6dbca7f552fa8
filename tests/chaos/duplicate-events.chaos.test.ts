/** F21: RabbitMQ delivers every event ten times. Webhook delivery creates one row and one POST per attempt. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { connect } from 'amqplib';
import {
  type Person,
  readMetric,
  type TestRabbit,
  testRabbit,
  until,
  type WebhookReceiver,
  webhookReceiver,
} from '#libs/testing';
import { prefixedNames, queueExists } from '../../libs/events/amqp/topology-setup.ts';
import { deleteQueues } from '../../libs/testing/amqp-fixture.ts';
import { documents } from '../../services/documents/service.ts';
import { identity } from '../../services/testing/services.ts';
import { webhookDelivery } from '../../services/webhook-delivery/service.ts';
import { type TestContext, testContext } from '../../services/webhook-delivery/testing/test-context.ts';
import { findDatabaseViolations } from './violations.ts';

const prefix = `test-${randomBytes(4).toString('hex')}.`;
const services = [identity, documents, webhookDelivery];
let rabbit: TestRabbit;
let broker: Awaited<ReturnType<typeof connect>>;
let context: TestContext;
let ada: Person;
let healthy: WebhookReceiver;
let failing: WebhookReceiver;

beforeAll(async () => {
  rabbit = await testRabbit();
  [broker, context, healthy, failing] = await Promise.all([
    connect(rabbit.url),
    testContext(services, { AMQP_URL: rabbit.url, AMQP_PREFIX: prefix }),
    webhookReceiver(),
    webhookReceiver(() => 500),
  ]);
  ada = await context.createTenant();
  // before a process has detected that the broker is new, it may republish its events
  for (const { contract } of services) {
    const sentinel = prefixedNames(prefix).sentinel(contract.name);
    await until(`the sentinel queue of ${contract.name}`, () => queueExists(broker, sentinel));
  }
}, 400_000);
afterAll(async () => {
  await context?.app.stop();
  await Promise.all([healthy?.close(), failing?.close()]);
  const channel = await broker?.createChannel();
  const queues = services.map(({ contract }) => contract.name);
  if (channel) await deleteQueues(channel, prefix, queues);
  await broker?.close();
  await rabbit?.stop();
});

test('F21: an event delivered ten times gets one row and one POST per try', async () => {
  for (const { url } of [healthy, failing]) await context.createWebhook(ada, url);
  const channel = await broker.createConfirmChannel();
  const outbox = context.app.db.collection('documents_outbox');
  let published = 0;
  const publishAgain = async (times: number) => {
    for (const { type, event } of await outbox.find({ type: 'document.published' }).toArray())
      for (let count = 0; count < times; count += 1) {
        channel.publish(`${prefix}events`, type, Buffer.from(event), { persistent: true });
        published += 1;
      }
    await channel.waitForConfirms();
  };
  const ids: string[] = [];
  for (let count = 0; count < 5; count += 1) {
    ids.push(await context.publish(ada));
    // republishes the earlier events as well
    await publishAgain(1);
  }
  await publishAgain(4);
  const log = await context.untilSettled(ada, 2 * ids.length);
  await publishAgain(5);
  expect(published + ids.length).toBeGreaterThanOrEqual(10 * ids.length);
  const all = published + ids.length;
  await until('all of them to be handled', async () => (await countHandled()) >= all);
  // a larger number would mean that another process has republished events
  expect(await countHandled()).toBe(all);

  expect(await context.log(ada)).toEqual(log);
  expect(log.map(({ status, attempts }) => `${status} ${attempts}`).sort()).toEqual([
    ...ids.map(() => 'delivered 1'),
    ...ids.map(() => 'failed 3'),
  ]);
  expect(healthy.received).toHaveLength(ids.length);
  const attempts = failing.received.map(
    ({ headers }) => `${headers['webhook-id']} ${headers['x-service-attempt']}`,
  );
  expect(attempts).toHaveLength(3 * ids.length);
  expect(new Set(attempts).size).toBe(attempts.length);
  expect(await findDatabaseViolations(context.app.db)).toEqual([]);
});

/** The number of events that webhook delivery has handled, with duplicates. */
const countHandled = () =>
  readMetric(context.app.management, 'events_handled_total', {
    service: 'webhook-delivery',
    type: 'document.published',
    outcome: 'handled',
  });
