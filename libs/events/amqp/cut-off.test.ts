/** Connections that are cut at the worst moment: whatever was about to be answered, the next connection is opened. */
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

/** Class and method as they stand in a frame: what a client says that the broker would answer. */
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
let stage: AmqpFixture;
let wire: TcpProxy;
beforeAll(async () => {
  rabbit = await testRabbit();
}, 400_000);
beforeEach(async () => {
  wire = await tcpProxy(rabbit.url);
  stage = amqpFixture(wire.url);
});
afterEach(async () => {
  await stage.clear();
  await wire.close();
});
afterAll(() => rabbit?.stop());

test.each(Object.entries(methods))(
  'a connection that is cut at %s is opened again',
  async (_, method) => {
    let told = 0;
    const bus = await stage.open({
      owners: ['one'],
      onBrokerReset: async () => {
        told += 1;
      },
    });
    const heard: string[] = [];
    await bus.consume('alpha', async ({ id }) => void heard.push(id), { prefetch: 4 });
    await until('the owner was told', async () => told === 1);
    // each of the two connections is cut more than once on its way
    wire.cutAfter(Buffer.from([0, method[0], 0, method[1]]), 5);
    wire.resetAll();
    await until('all cuts made', async () => wire.remainingCuts() === 0, 30_000);
    const event = createEvent('thing.made');
    await publishUntilAccepted(bus, event);
    await until('the event', async () => heard.includes(event.id));
    expect(await bus.dead('alpha')).toEqual([]);
  },
  60_000,
);
