/** The stage for tests of the bus over RabbitMQ: buses over one broker under a prefix of their own, and what hurts them. */
import { randomBytes } from 'node:crypto';
import { type Channel, connect } from 'amqplib';
import { type Envelope, newId, Secret } from '#libs/contract';
import { type AmqpBusOptions, amqpBus, type Bus } from '#libs/events';
import { prefixedNames } from '../events/amqp/topology-setup.ts';
import { until } from './until.ts';

/** What a test finds on the stage: queue `alpha` hears both types, `beta` only what was made. */
export interface AmqpFixture {
  url: string;
  prefix: string;
  /** What the buses were troubled by. */
  errors: string[];
  /** Another bus; resolves when it is up. */
  open(more?: Partial<AmqpBusOptions>): Promise<Bus>;
  /** Works on the broker past every bus. */
  withChannel<R>(work: (channel: Channel) => Promise<R>): Promise<R>;
  /** Closes all buses. */
  close(): Promise<void>;
  /** Closes all buses and takes away what they declared. */
  clear(): Promise<void>;
}

/** Sets the stage; connections notice within three seconds that nobody answers. */
export function amqpFixture(url: string): AmqpFixture {
  const prefix = `test-${randomBytes(4).toString('hex')}.`;
  const topology = new Map([
    ['alpha', ['thing.made', 'thing.gone']],
    ['beta', ['thing.made']],
  ]);
  const buses: Bus[] = [];
  const errors: string[] = [];
  const stage: AmqpFixture = {
    url,
    prefix,
    errors,
    async open(more = {}) {
      const secret = new Secret(`${url}?heartbeat=1`);
      const onError = (what: string, error: unknown) => void errors.push(`${what}: ${error}`);
      const bus = amqpBus({
        url: secret,
        topology,
        prefix,
        retries: [20],
        retryQueueDelayMs: 0,
        onError,
        ...more,
      });
      buses.push(bus);
      await untilUp(bus);
      return bus;
    },
    async withChannel(work) {
      const connection = await connect(url);
      // work may break the channel
      connection.on('error', () => {});
      try {
        const channel = await connection.createChannel();
        channel.on('error', () => {});
        const result = await work(channel);
        // what was sent is on its way before the connection closes
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
      await stage.close();
      await stage.withChannel((channel) => deleteQueues(channel, prefix, [...topology.keys()]));
    },
  };
  return stage;
}

/** Takes away everything that a bus declares for queues, which are there or not. */
export async function deleteQueues(
  channel: Channel,
  prefix: string,
  queues: readonly string[],
): Promise<void> {
  const names = prefixedNames(prefix);
  for (const queue of queues)
    for (const name of [names.queue(queue), names.retry(queue), names.dead(queue)])
      await channel.deleteQueue(name);
  for (const exchange of [names.exchange, names.deadExchange]) await channel.deleteExchange(exchange);
}

/** How many messages of a queue nobody has in hand. */
export async function countReady(stage: AmqpFixture, queue: string): Promise<number> {
  return (await stage.withChannel((channel) => channel.checkQueue(stage.prefix + queue))).messageCount;
}

/** Takes so many messages of a queue in hand, which nobody else may want, and loses its connection. */
export async function killWhileHandling(stage: AmqpFixture, queue: string, count: number): Promise<void> {
  const connection = await connect(stage.url);
  const channel = await connection.createChannel();
  let inHand = 0;
  await channel.consume(stage.prefix + queue, () => {
    inHand += 1;
  });
  await until('all of it in hand', async () => inHand === count);
  await connection.close();
}

/** The ids of the events in a queue, which are taken out. */
export async function idsIn(channel: Channel, queue: string): Promise<string[]> {
  const ids: string[] = [];
  for (;;) {
    const message = await channel.get(queue, { noAck: true });
    if (!message) return ids;
    ids.push(JSON.parse(message.content.toString()).id);
  }
}

/** Waits until a bus is up. */
export function untilUp(bus: Bus): Promise<true> {
  return until('the bus to be up', async () => bus.up, 30_000);
}

/** A new event. */
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

/** Publishes as the relay does: again until it is taken. */
export function publishUntilAccepted(bus: Bus, event: Envelope): Promise<true> {
  return until(
    `${event.type} to be taken`,
    () =>
      bus.publish(event).then(
        () => true as const,
        () => false as const,
      ),
    40_000,
  );
}
