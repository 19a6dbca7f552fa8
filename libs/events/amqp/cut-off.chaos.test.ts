/**
 * Tests that the bus reconnects if a connection is cut before RabbitMQ responds, for every method it sends.
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import {
  type AmqpFixture,
  amqpFixture,
  createEvent,
  publishUntilAccepted,
} from '../../testing/amqp-fixture.ts';
import { type TestRabbit, testRabbit } from '../../testing/rabbit.ts';
import { type TcpProxy, tcpProxy } from '../../testing/tcp-proxy.ts';
import { until } from '../../testing/until.ts';

/** The AMQP class and method ids, as in a frame, of the methods that the broker responds to. */
const methods = {
  'Channel.Open': [20, 10],
  'Channel.Close': [20, 40],
  'Exchange.Declare': [40, 10],
  'Queue.Declare': [50, 10],
  'Queue.Bind': [50, 20],
  'Basic.Qos': [60, 10],
  'Basic.Consume': [60, 20],
  'Confirm.Select': [85, 10],
} as const;

let rabbit: TestRabbit;
let fixture: AmqpFixture;
let proxy: TcpProxy;
beforeAll(async () => {
  rabbit = await testRabbit();
}, 400_000);
beforeEach(async () => {
  proxy = await tcpProxy(rabbit.url);
  fixture = amqpFixture(proxy.url);
});
afterEach(async () => {
  await fixture.clear();
  await proxy.close();
});
afterAll(() => rabbit?.stop());

test.each(Object.entries(methods))('a connection that is cut at %s reopens', async (_, method) => {
  let resets = 0;
  const bus = await fixture.open({
    owners: ['one'],
    onBrokerReset: async () => {
      resets += 1;
    },
  });
  const received: string[] = [];
  await bus.consume('alpha', async ({ id }) => void received.push(id), { prefetch: 4 });
  await until('the owner is notified', async () => resets === 1);
  // cuts each of the two connections more than once
  proxy.cutAfter(Buffer.from([0, method[0], 0, method[1]]), 5);
  proxy.resetAll();
  await until('all cuts are done', async () => proxy.remainingCuts() === 0);
  const event = createEvent('thing.made');
  await publishUntilAccepted(bus, event);
  await until('the event is received', async () => received.includes(event.id));
  expect(await bus.dead('alpha')).toEqual([]);
});
