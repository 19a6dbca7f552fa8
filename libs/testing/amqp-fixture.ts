/** The fixture for tests of the RabbitMQ bus: buses with a unique prefix over one broker. */
import { randomBytes } from 'node:crypto';
import { type Channel, connect } from 'amqplib';
import { type Envelope, newId, Secret } from '#libs/contract';
import { type AmqpBusOptions, amqpBus, type Bus, type Topology } from '#libs/events';
import { prefixedNames } from '../events/amqp/topology-setup.ts';
import { until } from './until.ts';

/** Buses with the queues of `fixtureTopology` over one broker. */
export interface AmqpFixture {
  url: string;
  prefix: string;
  /** The errors of the buses. */
  errors: string[];
  /** Opens another bus; resolves when it is up. */
  open(options?: Partial<AmqpBusOptions>): Promise<Bus>;
  /** Runs work on a separate channel, without a bus. */
  withChannel<R>(work: (channel: Channel) => Promise<R>): Promise<R>;
  /** Closes all buses. */
  close(): Promise<void>;
  /** Closes all buses and deletes their queues and exchanges. */
  clear(): Promise<void>;
}

/** The queues of the fixture and the events that they take. */
export const fixtureTopology: Topology = new Map([
  ['alpha', ['thing.made', 'thing.gone']],
  ['beta', ['thing.made']],
]);

/** Creates the fixture; a heartbeat of 1 s detects a dead broker within three seconds. */
export function amqpFixture(url: string): AmqpFixture {
  const prefix = `test-${randomBytes(4).toString('hex')}.`;
  const buses: Bus[] = [];
  const errors: string[] = [];
  const fixture: AmqpFixture = {
    url,
    prefix,
    errors,
    async open(options = {}) {
      const secret = new Secret(`${url}?heartbeat=1`);
      const onError = (message: string, error: unknown) => void errors.push(`${message}: ${error}`);
      const bus = amqpBus({
        url: secret,
        topology: fixtureTopology,
        prefix,
        retries: [20],
        retryQueueDelayMs: 0,
        onError,
        ...options,
      });
      buses.push(bus);
      await untilUp(bus);
      return bus;
    },
    async withChannel(work) {
      const connection = await connect(url);
      // work may close the channel with an error
      connection.on('error', () => {});
      try {
        const channel = await connection.createChannel();
        channel.on('error', () => {});
        const result = await work(channel);
        // flushes sent messages before the connection closes
        await channel.close();
        return result;
      } finally {
        await connection.close();
      }
    },
    async close() {
      await Promise.all(buses.map((bus) => bus.close()));
    },
    async clear() {
      await fixture.close();
      await fixture.withChannel((channel) => deleteQueues(channel, prefix, [...fixtureTopology.keys()]));
    },
  };
  return fixture;
}

/** Deletes everything that a bus declares for these queues, whether or not it exists. */
export async function deleteQueues(
  channel: Channel,
  prefix: string,
  queues: readonly string[],
): Promise<void> {
  const names = prefixedNames(prefix);
  for (const queue of queues)
    for (const name of [names.queue(queue), names.retry(queue), names.dead(queue)])
      await channel.deleteQueue(name);
  for (const exchange of [names.exchange, names.queueExchange, names.deadLetterExchange])
    await channel.deleteExchange(exchange);
}

/** RabbitMQ counts no messages in a quorum queue that does not respond within this time. */
const countMs = 250;

/** The number of ready messages in a queue. */
export async function countReady(fixture: AmqpFixture, queue: string): Promise<number> {
  return fixture.withChannel((channel) =>
    until(`a count of ${queue}`, async () => {
      const since = performance.now();
      const { messageCount } = await channel.checkQueue(fixture.prefix + queue);
      return messageCount > 0 || performance.now() - since < countMs ? messageCount : undefined;
    }),
  );
}

/** Consumes `count` messages without acknowledging them, then disconnects; the queue must be idle. */
export async function killWhileHandling(fixture: AmqpFixture, queue: string, count: number): Promise<void> {
  const connection = await connect(fixture.url);
  const channel = await connection.createChannel();
  let inFlight = 0;
  await channel.consume(fixture.prefix + queue, () => {
    inFlight += 1;
  });
  await until('all messages to be in flight', async () => inFlight === count);
  await connection.close();
}

/** Removes all events from a queue and returns their ids. */
export async function takeIds(channel: Channel, queue: string): Promise<string[]> {
  const ids: string[] = [];
  for (;;) {
    const message = await channel.get(queue, { noAck: true });
    if (!message) return ids;
    ids.push(JSON.parse(message.content.toString()).id);
  }
}

/** Waits until a bus is up. */
export function untilUp(bus: Bus): Promise<true> {
  return until('the bus to be up', async () => bus.up);
}

/** Creates an event. */
export function createEvent(type: 'thing.made' | 'thing.gone', data: unknown = {}): Envelope {
  return {
    id: newId(),
    type,
    occurred_at: new Date().toISOString(),
    organization_id: newId(),
    actor_id: null,
    data,
  };
}

/** Publishes like the relay: repeats until the broker confirms the event. */
export function publishUntilAccepted(bus: Bus, event: Envelope): Promise<true> {
  return until(`${event.type} to be accepted`, () =>
    bus.publish(event).then(
      () => true as const,
      () => false as const,
    ),
  );
}
