/**
 * Tests for events between processes over RabbitMQ, and for publishing again after RabbitMQ lost its queues.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Bus } from '#libs/events';
import type { Store } from '#libs/store';
import { type TestRabbit, testRabbit, until } from '#libs/testing';
import { amqpFixture, deleteQueues } from '../testing/amqp-fixture.ts';
import {
  createActor,
  createThing,
  fakeClock,
  type StoreFixture,
  storeFixture,
  ThingMade,
  thingConsumers,
  thingProducers,
} from '../testing/store-fixture.ts';
import { createEventBus } from './event-bus.ts';
import type { Log } from './log.ts';
import { type CommonSettings, commonSettings, readSettings } from './settings.ts';

const prefix = `test-${randomBytes(4).toString('hex')}.`;
const sentinel = `${prefix}${thingProducers.name}.sentinel`;
let fixture: StoreFixture;
let rabbit: TestRabbit;
let clock: ReturnType<typeof fakeClock>;
const warnings: unknown[][] = [];
const buses: Bus[] = [];

beforeAll(async () => {
  [fixture, rabbit] = await Promise.all([storeFixture(), testRabbit()]);
}, 400_000);
beforeEach(() => {
  clock = fakeClock();
  warnings.length = 0;
});
afterEach(async () => {
  await fixture.close();
  await Promise.all(buses.splice(0).map((bus) => bus.close()));
  await fixture.db.collection('thing_producers_outbox').deleteMany({});
  await amqpFixture(rabbit.url).withChannel(async (channel) => {
    for (const name of [prefix, `other.${prefix}`]) await deleteQueues(channel, name, [thingConsumers.name]);
    await channel.deleteQueue(sentinel);
  });
});
afterAll(async () => {
  await fixture?.stop();
  await rabbit?.stop();
});

/** Creates the event bus of a process with these services. */
function createBus(owners: readonly string[], stores: Promise<readonly Store[]>, busPrefix = prefix) {
  const environment = {
    AMQP_URL: rabbit.url,
    AMQP_PREFIX: busPrefix,
    MONGODB_URI: fixture.uri,
    ENCRYPTION_KEYS: randomBytes(32).toString('base64'),
  };
  // the first result belongs to the first schema
  const settings = readSettings([commonSettings], environment)[0] as CommonSettings;
  // the only method of the log that is used
  const log = { warn: (...args: unknown[]) => void warnings.push(args) } as unknown as Log;
  const eventBus = createEventBus({
    settings,
    contracts: [thingProducers, thingConsumers],
    owners,
    stores,
    log,
  });
  buses.push(eventBus.bus);
  return eventBus;
}

/** Starts the process that creates things and publishes their events. */
async function startProducer(): Promise<Store> {
  const stores = Promise.withResolvers<readonly Store[]>();
  const eventBus = createBus([thingProducers.name], stores.promise);
  const store = await fixture.open({ bus: eventBus.bus, alone: eventBus.isSolePublisher, now: clock.now });
  stores.resolve([store]);
  store.relay();
  // released events are due one millisecond later, and the fake clock stands still
  await until('the bus to be up', async () => eventBus.bus.up);
  return store;
}

/** Starts another process that consumes the events. Returns the names of the things. */
async function startConsumer(busPrefix = prefix): Promise<string[]> {
  const names: string[] = [];
  const { bus, isSolePublisher } = createBus([thingConsumers.name], Promise.resolve([]), busPrefix);
  expect(isSolePublisher).toBe(false);
  await bus.consume(
    thingConsumers.name,
    async ({ data }) => void names.push(ThingMade.data.parse(data).name),
    {
      prefetch: 8,
    },
  );
  await until('the bus to be up', async () => bus.up);
  return names;
}

const hasSentinel = () =>
  amqpFixture(rabbit.url)
    .withChannel((channel) => channel.checkQueue(sentinel))
    .catch(() => false as const);

test('events reach another process, but no system with another prefix', async () => {
  const [names, otherNames] = [await startConsumer(), await startConsumer(`other.${prefix}`)];
  const store = await startProducer();
  // before that, a broker that is seen for the first time gets all recent events again
  await until('the sentinel queue', hasSentinel);
  await createThing(store, createActor(), 'one');
  await until('the event', async () => names.length > 0);
  expect([names, otherNames]).toEqual([['one'], []]);
});

test('events of the last six hours are published again after a reset', async () => {
  const names = await startConsumer();
  const before = await startProducer();
  await until('the sentinel queue', hasSentinel);
  await createThing(before, createActor(), 'old');
  await until('the old event', async () => names.includes('old'));
  await until(
    'the first event to be marked as published',
    async () => (await fixture.outbox({ pending: true })).length === 0,
  );
  clock.advance(5 * 3_600_000);
  await createThing(before, createActor(), 'young');
  await until('the young event', async () => names.includes('young'));
  await until(
    'both events to be marked as published',
    async () => (await fixture.outbox({ pending: true })).length === 0,
  );
  await before.close();
  clock.advance(2 * 3_600_000);

  await amqpFixture(rabbit.url).withChannel((channel) => channel.deleteQueue(sentinel));
  await startProducer();
  const findWarning = () =>
    warnings.find(([, message]) => String(message).startsWith('RabbitMQ lost its queues'));
  expect((await until('the warning', async () => findWarning()))[0]).toEqual({ events: 1 });
  // the event is due one millisecond later
  clock.advance(1);
  await until('the young event again', async () => names.length > 2);
  expect(names).toEqual(['old', 'young', 'young']);
  await until('the sentinel queue again', hasSentinel);
});
