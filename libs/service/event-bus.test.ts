/**
 * Events between processes over the RabbitMQ of the settings, and what is sent again when it has lost what it
 * was given.
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
const mark = `${prefix}${thingProducers.name}.sentinel`;
let stage: StoreFixture;
let rabbit: TestRabbit;
let clock: ReturnType<typeof fakeClock>;
const warnings: unknown[][] = [];
const buses: Bus[] = [];

beforeAll(async () => {
  [stage, rabbit] = await Promise.all([storeFixture(), testRabbit()]);
}, 400_000);
beforeEach(() => {
  clock = fakeClock();
  warnings.length = 0;
});
afterEach(async () => {
  await stage.close();
  await Promise.all(buses.splice(0).map((bus) => bus.close()));
  await stage.db.collection('thing_makers_outbox').deleteMany({});
  await amqpFixture(rabbit.url).withChannel(async (channel) => {
    for (const one of [prefix, `other.${prefix}`]) await deleteQueues(channel, one, [thingConsumers.name]);
    await channel.deleteQueue(mark);
  });
});
afterAll(async () => {
  await stage?.stop();
  await rabbit?.stop();
});

/** How a process with some services carries its events. */
function carried(owners: readonly string[], stores: Promise<readonly Store[]>, under = prefix) {
  const environment = {
    AMQP_URL: rabbit.url,
    AMQP_PREFIX: under,
    MONGODB_URI: stage.uri,
    ENCRYPTION_KEYS: randomBytes(32).toString('base64'),
  };
  // the first shape gives the first result
  const settings = readSettings([commonSettings], environment)[0] as CommonSettings;
  // all that carrying asks of a log
  const log = { warn: (...words: unknown[]) => void warnings.push(words) } as unknown as Log;
  const found = createEventBus({
    settings,
    contracts: [thingProducers, thingConsumers],
    owners,
    stores,
    log,
  });
  buses.push(found.bus);
  return found;
}

/** The process that makes things, publishing. */
async function making(): Promise<Store> {
  const stores = Promise.withResolvers<readonly Store[]>();
  const found = carried([thingProducers.name], stores.promise);
  const store = await stage.open({ ...found, now: clock.now });
  stores.resolve([store]);
  store.relay();
  // what is given back before is due a moment later, and the clock stands still
  await until('the bus to be up', async () => found.bus.up);
  return store;
}

/** Another process, in which things are heard of. */
async function hearing(under = prefix): Promise<string[]> {
  const heard: string[] = [];
  const { bus, isSolePublisher } = carried([thingConsumers.name], Promise.resolve([]), under);
  expect(isSolePublisher).toBe(false);
  await bus.consume(
    thingConsumers.name,
    async ({ data }) => void heard.push(ThingMade.data.parse(data).name),
    {
      prefetch: 8,
    },
  );
  await until('the bus to be up', async () => bus.up);
  return heard;
}

const isMarked = () =>
  amqpFixture(rabbit.url)
    .withChannel((channel) => channel.checkQueue(mark))
    .catch(() => false as const);

test('what one process says another one hears, and no system under another prefix', async () => {
  const [here, elsewhere] = [await hearing(), await hearing(`other.${prefix}`)];
  const store = await making();
  // before it, a broker that is seen for the first time is given what was said already once more
  await until('the mark', isMarked, 20_000);
  await createThing(store, createActor(), 'one');
  await until('the event', async () => here.length > 0);
  expect([here, elsewhere]).toEqual([['one'], []]);
}, 60_000);

test('a RabbitMQ that has lost what it was given gets the last six hours again, and that is said', async () => {
  const heard = await hearing();
  const before = await making();
  await until('the mark', isMarked, 20_000);
  await createThing(before, createActor(), 'old');
  await until('the old one', async () => heard.includes('old'));
  await until('its mark', async () => (await stage.outbox({ pending: true })).length === 0);
  clock.advance(5 * 3_600_000);
  await createThing(before, createActor(), 'young');
  await until('the young one', async () => heard.includes('young'));
  await until('both marked', async () => (await stage.outbox({ pending: true })).length === 0);
  await before.close();
  clock.advance(2 * 3_600_000);

  await amqpFixture(rabbit.url).withChannel((channel) => channel.deleteQueue(mark));
  await making();
  const said = () => warnings.find(([, words]) => String(words).startsWith('RabbitMQ lost its queues'));
  expect((await until('a word about it', async () => said(), 20_000))[0]).toEqual({ events: 1 });
  // it is due from now on
  clock.advance(1);
  await until('the young one again', async () => heard.length > 2, 20_000);
  expect(heard).toEqual(['old', 'young', 'young']);
  await until('the mark again', isMarked, 20_000);
}, 60_000);
