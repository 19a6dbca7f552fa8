/** What the bus does when something on a healthy broker is taken away, full or garbage. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { connect } from 'amqplib';
import {
  type AmqpFixture,
  amqpFixture,
  createEvent,
  publishUntilAccepted,
} from '../../testing/amqp-fixture.ts';
import { type TestRabbit, testRabbit } from '../../testing/rabbit.ts';
import { until } from '../../testing/until.ts';
import { Unroutable } from '../bus.ts';
import { subscribe } from './consumer.ts';

let rabbit: TestRabbit;
let stage: AmqpFixture;
beforeAll(async () => {
  rabbit = await testRabbit();
}, 400_000);
beforeEach(() => {
  stage = amqpFixture(rabbit.url);
});
afterEach(() => stage.clear());
afterAll(() => rabbit?.stop());

test('many processes that declare the same new queues at once all come up', async () => {
  const buses = await Promise.all(Array.from({ length: 6 }, () => stage.open()));
  await Promise.all(buses.map((bus, at) => publishUntilAccepted(bus, createEvent('thing.made', { at }))));
  const heard = new Set<string>();
  await buses[0]?.consume('beta', async ({ id }) => void heard.add(id), { prefetch: 4 });
  await until('one of each', async () => heard.size === 6);
}, 60_000);

test('a consumer whose queue is deleted is subscribed again to a new one', async () => {
  const bus = await stage.open();
  const heard: string[] = [];
  await bus.consume('alpha', async ({ id }) => void heard.push(id), { prefetch: 4 });
  const [before, after] = [createEvent('thing.gone'), createEvent('thing.gone')];
  await publishUntilAccepted(bus, before);
  await until('the first', async () => heard.includes(before.id));
  await stage.withChannel((channel) => channel.deleteQueue(`${stage.prefix}alpha`));
  await publishUntilAccepted(bus, after);
  await until('the second', async () => heard.includes(after.id));
}, 30_000);

test('a binding that is taken away refuses the event, which is then bound and taken', async () => {
  const bus = await stage.open();
  await stage.withChannel((channel) =>
    channel.unbindQueue(`${stage.prefix}alpha`, `${stage.prefix}events`, 'thing.gone'),
  );
  const event = createEvent('thing.gone');
  await expect(bus.publish(event)).rejects.toBeInstanceOf(Unroutable);
  await publishUntilAccepted(bus, event);
  const heard: string[] = [];
  await bus.consume('alpha', async ({ id }) => void heard.push(id), { prefetch: 4 });
  await until('the event', async () => heard.includes(event.id));
}, 30_000);

test('a binding of one queue among several, which nobody misses, is made again before long', async () => {
  const bus = await stage.open({ declareEveryMs: 300 });
  const heard: string[] = [];
  await bus.consume('alpha', async ({ id }) => void heard.push(id), { prefetch: 4 });
  await stage.withChannel((channel) =>
    channel.unbindQueue(`${stage.prefix}alpha`, `${stage.prefix}events`, 'thing.made'),
  );
  await until('an event that reaches both', async () => {
    // the other queue takes it
    await bus.publish(createEvent('thing.made'));
    return heard.length > 0;
  });
  expect(stage.errors).toEqual([]);
}, 30_000);

test('an exchange that is taken away marks nothing as published, and is made anew', async () => {
  const bus = await stage.open();
  await stage.withChannel((channel) => channel.deleteExchange(`${stage.prefix}events`));
  const event = createEvent('thing.gone');
  await expect(bus.publish(event)).rejects.toThrow();
  await publishUntilAccepted(bus, event);
  const heard: string[] = [];
  await bus.consume('alpha', async ({ id }) => void heard.push(id), { prefetch: 4 });
  await until('the event', async () => heard.includes(event.id));
}, 30_000);

test('a full queue refuses events until there is room, and loses none', async () => {
  const bus = await stage.open({ maxLength: 5 });
  const taken: string[] = [];
  let refused: ReturnType<typeof createEvent> | undefined;
  await until('a refusal', async () => {
    const event = createEvent('thing.gone');
    try {
      await bus.publish(event);
      taken.push(event.id);
    } catch (error) {
      expect(String(error)).toMatch(/refused thing\.gone: a queue that wants it is full/);
      refused = event;
    }
    return refused;
  });
  expect(taken.length).toBeGreaterThanOrEqual(5);
  const heard = new Set<string>();
  await bus.consume('alpha', async ({ id }) => void heard.add(id), { prefetch: 4 });
  if (refused) await publishUntilAccepted(bus, refused);
  await until('all of them', async () => [...taken, refused?.id ?? ''].every((id) => heard.has(id)));
}, 30_000);

test('bytes that are no event are set aside as they are', async () => {
  const bus = await stage.open();
  const heard: string[] = [];
  await bus.consume('alpha', async ({ id }) => void heard.push(id), { prefetch: 4 });
  const garbage = Buffer.from([0xff, 0x00, 0x7b]);
  await stage.withChannel(async (channel) => channel.sendToQueue(`${stage.prefix}alpha`, garbage));
  const dead = await until('a dead letter', () =>
    stage.withChannel((channel) => channel.get(`${stage.prefix}alpha.dead`, { noAck: true })),
  );
  expect(dead).toMatchObject({ content: garbage });
  expect(heard).toEqual([]);
}, 30_000);

test('looking at dead letters does not use them up', async () => {
  const bus = await stage.open({ retries: [] });
  await bus.consume('alpha', () => Promise.reject(new Error('never')), { prefetch: 4 });
  const event = createEvent('thing.gone');
  await publishUntilAccepted(bus, event);
  for (let times = 0; times < 25; times += 1)
    await until('the dead letter', async () => (await bus.dead('alpha')).some(({ id }) => id === event.id));
}, 30_000);

test('an answer to an old channel is left out, and its event comes again', async () => {
  const bus = await stage.open();
  const connection = await connect(rabbit.url);
  const event = createEvent('thing.gone');
  const gate = Promise.withResolvers<void>();
  let begun = 0;
  const troubles: unknown[] = [];
  const subscription = {
    queue: `${stage.prefix}alpha`,
    prefetch: 4,
    handle: async () => {
      begun += 1;
      await gate.promise;
    },
    signal: new AbortController().signal,
    onError: (what: string) => void troubles.push(what),
  };
  let channel: Awaited<ReturnType<typeof connection.createChannel>> | undefined;
  const model = Object.assign(Object.create(connection), {
    createChannel: async () => (channel = await connection.createChannel()),
  });
  const subscribed = await subscribe(model, subscription);
  await publishUntilAccepted(bus, event);
  await until('it is in hand', async () => begun === 1);
  // an acknowledgement of nothing is what brokers close a channel for
  channel?.ack({ fields: { deliveryTag: 99 } } as never);
  expect(String(await subscribed.lost)).toMatch(/PRECONDITION_FAILED/);
  gate.resolve();
  await subscribed.drain();
  expect(troubles).toEqual([]);
  await connection.close();
}, 30_000);
