/**
 * Tests of the bus if a queue, a binding or an exchange is deleted, a queue is full or a message is invalid.
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { connect } from 'amqplib';
import { Secret } from '#libs/contract';
import {
  type AmqpFixture,
  amqpFixture,
  createEvent,
  publishUntilAccepted,
  takeIds,
} from '../../testing/amqp-fixture.ts';
import { type TestRabbit, testRabbit } from '../../testing/rabbit.ts';
import { until } from '../../testing/until.ts';
import { Unroutable } from '../bus.ts';
import { subscribe } from './consumer.ts';
import { openDeadLetters } from './replay.ts';

let rabbit: TestRabbit;
let fixture: AmqpFixture;
beforeAll(async () => {
  rabbit = await testRabbit();
}, 400_000);
beforeEach(() => {
  fixture = amqpFixture(rabbit.url);
});
afterEach(() => fixture.clear());
afterAll(() => rabbit?.stop());

test('six processes that declare the same new queues at once all connect', async () => {
  const buses = await Promise.all(Array.from({ length: 6 }, () => fixture.open()));
  await Promise.all(buses.map((bus, at) => publishUntilAccepted(bus, createEvent('thing.made', { at }))));
  const received = new Set<string>();
  await buses[0]?.consume('beta', async ({ id }) => void received.add(id), { prefetch: 4 });
  await until('one event of each bus is received', async () => received.size === 6);
});

test('a consumer whose queue is deleted resubscribes to a new queue', async () => {
  const bus = await fixture.open();
  const received: string[] = [];
  await bus.consume('alpha', async ({ id }) => void received.push(id), { prefetch: 4 });
  const [before, after] = [createEvent('thing.gone'), createEvent('thing.gone')];
  await publishUntilAccepted(bus, before);
  await until('the first event is received', async () => received.includes(before.id));
  await fixture.withChannel((channel) => channel.deleteQueue(`${fixture.prefix}alpha`));
  await publishUntilAccepted(bus, after);
  await until('the second event is received', async () => received.includes(after.id));
});

test('publish rejects if a binding was deleted, which is then declared again', async () => {
  const bus = await fixture.open();
  await fixture.withChannel((channel) =>
    channel.unbindQueue(`${fixture.prefix}alpha`, `${fixture.prefix}events.queues`, 'thing.gone'),
  );
  const event = createEvent('thing.gone');
  await expect(bus.publish(event)).rejects.toBeInstanceOf(Unroutable);
  await publishUntilAccepted(bus, event);
  const received: string[] = [];
  await bus.consume('alpha', async ({ id }) => void received.push(id), { prefetch: 4 });
  await until('the event', async () => received.includes(event.id));
});

test('a deleted binding of one of several queues is declared again', async () => {
  const bus = await fixture.open({ declareEveryMs: 300 });
  const received: string[] = [];
  await bus.consume('alpha', async ({ id }) => void received.push(id), { prefetch: 4 });
  await fixture.withChannel((channel) =>
    channel.unbindQueue(`${fixture.prefix}alpha`, `${fixture.prefix}events.queues`, 'thing.made'),
  );
  await until('an event reaches both queues', async () => {
    // the other queue takes the event, so publish succeeds
    await bus.publish(createEvent('thing.made'));
    return received.length > 0;
  });
  expect(fixture.errors).toEqual([]);
});

test.each(['events', 'events.queues'])(
  'publish rejects if the exchange %s was deleted, which is declared again',
  async (exchange) => {
    const bus = await fixture.open();
    await fixture.withChannel((channel) => channel.deleteExchange(`${fixture.prefix}${exchange}`));
    const event = createEvent('thing.gone');
    await expect(bus.publish(event)).rejects.toThrow();
    await publishUntilAccepted(bus, event);
    const received: string[] = [];
    await bus.consume('alpha', async ({ id }) => void received.push(id), { prefetch: 4 });
    await until('the event', async () => received.includes(event.id));
  },
);

test('publish rejects while a queue is full, and no event is lost', async () => {
  const bus = await fixture.open({ maxLength: 5 });
  const published: string[] = [];
  let rejected: ReturnType<typeof createEvent> | undefined;
  await until('an event is rejected', async () => {
    const event = createEvent('thing.gone');
    try {
      await bus.publish(event);
      published.push(event.id);
    } catch (error) {
      expect(String(error)).toMatch(/rejected thing\.gone: a queue bound to it is full/);
      rejected = event;
    }
    return rejected;
  });
  expect(published.length).toBeGreaterThanOrEqual(5);
  const received = new Set<string>();
  await bus.consume('alpha', async ({ id }) => void received.add(id), { prefetch: 4 });
  if (rejected) await publishUntilAccepted(bus, rejected);
  const areReceived = async () => [...published, rejected?.id ?? ''].every((id) => received.has(id));
  await until('all events are received', areReceived);
});

test('bytes that are not an event are dead-lettered unchanged', async () => {
  const bus = await fixture.open();
  const received: string[] = [];
  await bus.consume('alpha', async ({ id }) => void received.push(id), { prefetch: 4 });
  const garbage = Buffer.from([0xff, 0x00, 0x7b]);
  await fixture.withChannel(async (channel) => channel.sendToQueue(`${fixture.prefix}alpha`, garbage));
  const dead = await until('a dead letter', () =>
    fixture.withChannel((channel) => channel.get(`${fixture.prefix}alpha.dead`, { noAck: true })),
  );
  expect(dead).toMatchObject({ content: garbage });
  expect(received).toEqual([]);
});

test('listing dead letters many times does not remove them', async () => {
  const bus = await fixture.open({ retries: [] });
  await bus.consume('alpha', () => Promise.reject(new Error('never')), { prefetch: 4 });
  const event = createEvent('thing.gone');
  await publishUntilAccepted(bus, event);
  for (let times = 0; times < 25; times += 1)
    await until('the dead letter', async () => (await bus.dead('alpha')).some(({ id }) => id === event.id));
});

test('no acknowledgment is sent over a closed channel', async () => {
  const bus = await fixture.open();
  const connection = await connect(rabbit.url);
  const event = createEvent('thing.gone');
  const gate = Promise.withResolvers<void>();
  let started = 0;
  const errors: unknown[] = [];
  const subscription = {
    queue: `${fixture.prefix}alpha`,
    prefetch: 4,
    handle: async () => {
      started += 1;
      await gate.promise;
    },
    signal: new AbortController().signal,
    onError: (message: string) => void errors.push(message),
  };
  let channel: Awaited<ReturnType<typeof connection.createChannel>> | undefined;
  const model = Object.assign(Object.create(connection), {
    createChannel: async () => (channel = await connection.createChannel()),
  });
  const subscribed = await subscribe(model, subscription);
  await publishUntilAccepted(bus, event);
  await until('the event is in flight', async () => started === 1);
  // the broker closes the channel, because this acknowledges an unknown delivery
  channel?.ack({ fields: { deliveryTag: 99 } } as never);
  expect(String(await subscribed.lost)).toMatch(/PRECONDITION_FAILED/);
  gate.resolve();
  await subscribed.drain();
  expect(errors).toEqual([]);
  await connection.close();
});

test('replaying to a deleted queue fails and keeps the dead letters', async () => {
  await fixture.open();
  await fixture.close();
  const dead = `${fixture.prefix}alpha.dead`;
  const event = createEvent('thing.gone');
  const { id } = event;
  await fixture.withChannel(async (channel) => {
    channel.sendToQueue(dead, Buffer.from(JSON.stringify(event)), { messageId: id });
    await channel.deleteQueue(`${fixture.prefix}alpha`);
  });
  const letters = await openDeadLetters({ url: new Secret(rabbit.url), prefix: fixture.prefix });
  await expect(letters.replay('alpha')).rejects.toThrow(`${fixture.prefix}alpha does not exist`);
  expect(await letters.list('alpha')).toMatchObject({ events: [{ id }], isComplete: true });
  // a service that starts declares the queue
  await fixture.open();
  expect(await letters.replay('alpha')).toEqual([id]);
  expect(await letters.list('alpha')).toEqual({ events: [], isComplete: true });
  await letters.close();
  const replayed = await fixture.withChannel((channel) => takeIds(channel, `${fixture.prefix}alpha`));
  expect(replayed).toEqual([id]);
});
