/** The measured event buses, each with a baseline: the least code that transports an event the same way. */
import { connect } from 'amqplib';
import { type Envelope, Secret } from '#libs/contract';
import { amqpBus, type Handler, memoryBus } from '#libs/events';
import { testRabbit, until } from '#libs/testing';

/** Transports events to the handler that it was created with. */
export interface EventTransport {
  publish(event: Envelope): Promise<void>;
  close(): Promise<void>;
}

/** Opens a bus and its baseline. */
export interface MeasuredBus {
  /** Events in a batch. */
  batchSize: number;
  /** Starts the broker, if the bus needs one. */
  broker?(): Promise<{ url: string; stop(): Promise<void> }>;
  service(handle: Handler, url: string): Promise<EventTransport>;
  baseline(handle: Handler, url: string): Promise<EventTransport>;
}

/** Type of the events, and the queue that is bound to it. */
export const type = 'document.published';
const queue = 'consumer';
const topology = new Map([[queue, [type]]]);
const prefetch = 32;

/** The buses by name. */
export const buses: Readonly<Record<string, MeasuredBus>> = {
  'in-process': {
    batchSize: 50_000,
    async service(handle) {
      const bus = memoryBus(topology);
      await bus.consume(queue, handle, { prefetch });
      return bus;
    },
    /** Serializes and parses the event, as a network transport would, and calls the handler. */
    async baseline(handle) {
      const { signal } = new AbortController();
      return {
        publish: (event) => handle(JSON.parse(JSON.stringify(event)), signal),
        close: async () => {},
      };
    },
  },
  RabbitMQ: {
    batchSize: 4_000,
    broker: testRabbit,
    async service(handle, url) {
      const onError = (message: string, error: unknown) => console.error(message, error);
      const bus = amqpBus({ url: new Secret(url), topology, prefix: 'bench.', onError });
      await until('the bus over RabbitMQ', async () => bus.up, 30_000);
      await bus.consume(queue, handle, { prefetch });
      return bus;
    },
    baseline: openBareAmqp,
  },
};

/**
 * Opens two connections, a topic exchange and a quorum queue. Uses publisher confirms and acknowledges
 * handled events.
 */
async function openBareAmqp(handle: Handler, url: string): Promise<EventTransport> {
  const name = 'bench-baseline';
  const { signal } = new AbortController();
  const [publisher, consumer] = [await connect(url), await connect(url)];
  const publishChannel = await publisher.createConfirmChannel();
  const consumeChannel = await consumer.createChannel();
  await consumeChannel.assertExchange(name, 'topic', { durable: true });
  await consumeChannel.assertQueue(name, { durable: true, arguments: { 'x-queue-type': 'quorum' } });
  await consumeChannel.bindQueue(name, name, type);
  await consumeChannel.prefetch(prefetch);
  await consumeChannel.consume(name, async (message) => {
    if (!message) return;
    await handle(JSON.parse(message.content.toString()), signal);
    consumeChannel.ack(message);
  });
  return {
    publish: (event) =>
      new Promise((resolve, reject) => {
        const bytes = Buffer.from(JSON.stringify(event));
        const options = { persistent: true, mandatory: true, contentType: 'application/json' };
        publishChannel.publish(name, type, bytes, options, (error) => (error ? reject(error) : resolve()));
      }),
    async close() {
      await consumeChannel.deleteQueue(name);
      await Promise.all([publisher.close(), consumer.close()]);
    },
  };
}
