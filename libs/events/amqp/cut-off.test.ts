/** Connections that are cut at the worst moment: whatever was about to be answered, the next connection is opened. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type AmqpStage, amqpStage, eventOf, published } from '../../testing/amqp-stage.ts';
import { type TestRabbit, testRabbit } from '../../testing/rabbit.ts';
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
let stage: AmqpStage;
let wire: Awaited<ReturnType<typeof cutting>>;
beforeAll(async () => {
  rabbit = await testRabbit();
}, 400_000);
beforeEach(async () => {
  wire = await cutting(rabbit.url);
  stage = amqpStage(wire.url);
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
      onEmptyBroker: async () => {
        told += 1;
      },
    });
    const heard: string[] = [];
    await bus.consume('alpha', async ({ id }) => void heard.push(id), { prefetch: 4 });
    await until('the owner was told', async () => told === 1);
    // each of the two connections is cut more than once on its way
    wire.cut(method, 5);
    await until('all cuts made', async () => wire.left() === 0, 30_000);
    const event = eventOf('thing.made');
    await published(bus, event);
    await until('the event', async () => heard.includes(event.id));
    expect(await bus.dead('alpha')).toEqual([]);
  },
  60_000,
);

/** A wire to the broker that breaks where it is told to. */
async function cutting(url: string) {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  let pattern = Buffer.alloc(0);
  let left = 0;
  const server = createServer((from) => {
    const to = connect(Number(port), hostname);
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const) {
      sockets.add(one);
      one.on('error', () => {});
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
    to.pipe(from);
    from.on('data', (bytes: Buffer) => {
      if (left === 0 || !bytes.includes(pattern)) return to.write(bytes);
      left -= 1;
      return from.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const through = new URL(url);
  through.port = String((server.address() as AddressInfo).port);
  return {
    url: through.href,
    /** Breaks all connections, and then so many more when a client says this. */
    cut([classId, methodId]: readonly [number, number], times: number) {
      // a frame of a method: its type, channel and length come before
      pattern = Buffer.from([0, classId, 0, methodId]);
      left = times;
      for (const socket of sockets) socket.destroy();
    },
    left: () => left,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
