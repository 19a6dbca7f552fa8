/** Runs the conformance suite of all buses on the bus over RabbitMQ. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll } from '@jest/globals';
import { connect } from 'amqplib';
import { Secret } from '#libs/contract';
import { deleteQueues } from '../../testing/amqp-fixture.ts';
import { busConformance } from '../../testing/bus-conformance.ts';
import { type TestRabbit, testRabbit } from '../../testing/rabbit.ts';
import { until } from '../../testing/until.ts';
import { amqpBus } from './amqp-bus.ts';

let rabbit: TestRabbit;
beforeAll(async () => {
  rabbit = await testRabbit();
}, 400_000);
afterAll(() => rabbit?.stop());

busConformance('the bus over RabbitMQ', async ({ topology, retries }) => {
  const prefix = `test-${randomBytes(4).toString('hex')}.`;
  const buses: ReturnType<typeof amqpBus>[] = [];
  const url = new Secret(rabbit.url);
  const open = async () => {
    const bus = amqpBus({ url, topology, retries, prefix, retryQueueDelayMs: 0, onError: () => {} });
    buses.push(bus);
    await until('the connections', async () => bus.up);
    return bus;
  };
  const withChannel = async (
    work: (channel: Awaited<ReturnType<typeof openChannel>>['channel']) => Promise<unknown>,
  ) => {
    const { channel, close } = await openChannel(rabbit.url);
    await work(channel);
    await close();
  };
  return {
    bus: await open(),
    reopen: open,
    inject: (queue, bytes) =>
      withChannel(async (channel) => {
        channel.sendToQueue(prefix + queue, Buffer.from(bytes));
      }),
    async end() {
      await Promise.all(buses.map((bus) => bus.close()));
      await withChannel((channel) => deleteQueues(channel, prefix, [...topology.keys()]));
    },
  };
});

async function openChannel(url: string) {
  const connection = await connect(url);
  const channel = await connection.createChannel();
  return {
    channel,
    async close() {
      await channel.close();
      await connection.close();
    },
  };
}
