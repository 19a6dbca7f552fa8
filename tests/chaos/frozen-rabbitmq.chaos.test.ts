/** F5: while RabbitMQ is frozen for a minute, requests succeed and no event is lost or repeated. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  ownRabbit,
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
let receiver: WebhookReceiver;

beforeAll(async () => {
  rabbit = await ownRabbit();
  context = await testContext(services, { AMQP_URL: rabbit.url });
  receiver = await webhookReceiver();
}, 400_000);
afterAll(async () => {
  rabbit?.thaw();
  await context?.app.stop();
  await receiver?.close();
  await rabbit?.stop();
});

const getArrivedIds = () => receiver.received.map(({ body }) => JSON.parse(body).data.document.id as string);

test('F5: requests succeed and no event is lost while RabbitMQ is frozen', async () => {
  const ada = await context.createTenant();
  await context.createWebhook(ada, receiver.url);
  const ids = [await context.publish(ada)];
  await until('the first delivery', async () => getArrivedIds().length === 1);

  await rabbit.freeze();
  for (let count = 0; count < 30; count += 1) {
    // rejects unless the status is 200
    ids.push(await context.publish(ada));
    // the minute is part of the fault
    await pause(2_000);
  }
  const degraded = { events: 'the event bus is down' };
  await untilReady(context.app.management, { status: 'ready', degraded });
  expect(getArrivedIds()).toHaveLength(1);

  rabbit.thaw();
  await untilReady(context.app.management, { status: 'ready' });
  ids.push(await context.publish(ada));
  await until('all documents', async () => ids.every((id) => getArrivedIds().includes(id)));
  const log = await context.untilSettled(ada, ids.length);
  expect(log.map(({ status, attempts }) => `${status} ${attempts}`)).toEqual(ids.map(() => 'delivered 1'));
  expect(getArrivedIds().sort()).toEqual([...ids].sort());
  const pending = () => context.app.db.collection('documents_outbox').countDocuments({ pending: true });
  await until('an empty outbox', async () => (await pending()) === 0);
  expect(await findDatabaseViolations(context.app.db)).toEqual([]);
}, 240_000);
