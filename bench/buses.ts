/** The buses that are measured, each beside the least that carries an event the same way. */
import { connect } from 'amqplib';
import { type Envelope, Secret } from '#libs/contract';
import { amqpBus, type Handler, memoryBus } from '#libs/events';
import { testRabbit, until } from '#libs/testing';

/** Carries events to the handler that it was made with. */
export interface Carrier {
  publish(event: Envelope): Promise<void>;
  close(): Promise<void>;
}

/** How to open a bus, and its floor. */
export interface Measurable {
  /** Events in a batch. */
  events: number;
  /** Brings the broker, if the bus needs one. */
  broker?(): Promise<{ url: string; stop(): Promise<void> }>;
  ours(handle: Handler, url: string): Promise<Carrier>;
  floor(handle: Handler, url: string): Promise<Carrier>;
}

/** The type of the events that are carried, and the queue that wants them. */
export const type = 'document.published';
const queue = 'hearing';
const topology = new Map([[queue, [type]]]);
const prefetch = 32;

/** The buses by name; another one is another entry. */
export const buses: Readonly<Record<string, Measurable>> = {
  'in-process': {
    events: 50_000,
    async ours(handle) {
      const bus = memoryBus(topology);
      await bus.consume(queue, handle, { prefetch });
      return bus;
    },
    /** As text, as over any wire, and a call. */
    async floor(handle) {
      const { signal } = new AbortController();
      return {
        publish: (event) => handle(JSON.parse(JSON.stringify(event)), signal),
        close: async () => {},
      };
    },
  },
  RabbitMQ: {
    events: 4_000,
    broker: testRabbit,
    async ours(handle, url) {
      const onError = (what: string, error: unknown) => console.error(what, error);
      const bus = amqpBus({ url: new Secret(url), topology, prefix: 'bench.', onError });
      await until('the bus over RabbitMQ', async () => bus.up, 30_000);
      await bus.consume(queue, handle, { prefetch });
      return bus;
    },
    floor: bareAmqp,
  },
};

/** Two connections, a topic exchange, a quorum queue; published with confirm, acknowledged once handled. */
async function bareAmqp(handle: Handler, url: string): Promise<Carrier> {
  const name = 'bench-floor';
  const { signal } = new AbortController();
  const [says, hears] = [await connect(url), await connect(url)];
  const saying = await says.createConfirmChannel();
  const hearing = await hears.createChannel();
  await hearing.assertExchange(name, 'topic', { durable: true });
  await hearing.assertQueue(name, { durable: true, arguments: { 'x-queue-type': 'quorum' } });
  await hearing.bindQueue(name, name, type);
  await hearing.prefetch(prefetch);
  await hearing.consume(name, async (message) => {
    if (!message) return;
    await handle(JSON.parse(message.content.toString()), signal);
    hearing.ack(message);
  });
  return {
    publish: (event) =>
      new Promise((resolve, reject) => {
        const bytes = Buffer.from(JSON.stringify(event));
        const options = { persistent: true, mandatory: true, contentType: 'application/json' };
        saying.publish(name, type, bytes, options, (error) => (error ? reject(error) : resolve()));
      }),
    async close() {
      await hearing.deleteQueue(name);
      await Promise.all([says.close(), hears.close()]);
    },
  };
}
