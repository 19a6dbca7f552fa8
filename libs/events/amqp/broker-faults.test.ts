/** What the bus does when the broker dies, hangs, forgets everything or runs out of memory. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import {
  type AmqpFixture,
  amqpFixture,
  createEvent,
  publishUntilAccepted,
  untilUp,
} from '../../testing/amqp-fixture.ts';
import { ownRabbit } from '../../testing/rabbit.ts';
import type { RabbitBroker } from '../../testing/rabbit-broker.ts';
import { until } from '../../testing/until.ts';
import { BusDown } from '../bus.ts';

let rabbit: RabbitBroker;
let stage: AmqpFixture;
beforeAll(async () => {
  rabbit = await ownRabbit();
}, 400_000);
beforeEach(() => {
  stage = amqpFixture(rabbit.url);
});
afterEach(() => stage.close());
afterAll(() => rabbit?.stop());

const ids = (events: readonly { id: string }[]) => events.map(({ id }) => id);

test('a broker that is killed under load and started again loses nothing, and nobody has to be restarted', async () => {
  const bus = await stage.open();
  const heard = new Set<string>();
  await bus.consume('alpha', async ({ id }) => void heard.add(id), { prefetch: 16 });
  const events = Array.from({ length: 300 }, () => createEvent('thing.gone'));
  const taken = (async () => {
    for (const event of events) await publishUntilAccepted(bus, event);
  })();
  await until('half of them', async () => heard.size > 150);
  await rabbit.settle();
  await rabbit.kill();
  await until('the bus to know', async () => !bus.up);
  await expect(bus.publish(createEvent('thing.gone'))).rejects.toBeInstanceOf(BusDown);
  await rabbit.start();
  const openAt = performance.now();
  await untilUp(bus);
  expect(performance.now() - openAt).toBeLessThan(10_000);
  await taken;
  await until('all of them', async () => ids(events).every((id) => heard.has(id)), 20_000);
  expect(await bus.dead('alpha')).toEqual([]);
}, 60_000);

test('a broker that hangs is noticed in bounded time, and everything goes on when it answers again', async () => {
  const bus = await stage.open();
  const heard = new Set<string>();
  await bus.consume('alpha', async ({ id }) => void heard.add(id), { prefetch: 16 });
  const before = createEvent('thing.gone');
  await publishUntilAccepted(bus, before);
  rabbit.freeze();
  try {
    const since = performance.now();
    const lost = createEvent('thing.gone');
    await expect(bus.publish(lost)).rejects.toThrow();
    expect(performance.now() - since).toBeLessThan(8_000);
    await until('the bus to know', async () => !bus.up);
    rabbit.thaw();
    await untilUp(bus);
    await publishUntilAccepted(bus, lost);
    await until('both', async () => heard.has(before.id) && heard.has(lost.id));
  } finally {
    rabbit.thaw();
  }
}, 60_000);

test('a bus closes in bounded time while the broker hangs', async () => {
  const bus = await stage.open();
  await bus.consume('alpha', async () => {}, { prefetch: 16 });
  rabbit.freeze();
  try {
    const since = performance.now();
    await bus.close();
    expect(performance.now() - since).toBeLessThan(10_000);
  } finally {
    rabbit.thaw();
  }
}, 30_000);

test('a broker that comes back empty is declared anew, and every owner of an outbox is told once', async () => {
  const told = { one: 0, two: 0 };
  const tellOne = async () => {
    told.one += 1;
  };
  const bus = await stage.open({ owners: ['one'], onBrokerReset: tellOne });
  let fails = true;
  const onBrokerReset = async () => {
    told.two += 1;
    if (fails) throw new Error('the database is away');
  };
  const other = await stage.open({ owners: ['two'], onBrokerReset });
  // a broker that is new to an owner has nothing of it either
  await until('both were told', async () => told.one === 1 && told.two > 0);
  fails = false;
  const marked = () => stage.withChannel((channel) => channel.checkQueue(`${stage.prefix}two.sentinel`));
  await until('the second has left its mark', () => marked().catch(() => false as const), 15_000);
  const { two } = told;

  await rabbit.settle();
  await rabbit.start();
  await Promise.all([untilUp(bus), untilUp(other)]);
  await publishUntilAccepted(bus, createEvent('thing.gone'));
  expect(told).toEqual({ one: 1, two });

  await rabbit.start({ empty: true });
  await until('both were told again', async () => told.one === 2 && told.two === two + 1, 30_000);
  await Promise.all([untilUp(bus), untilUp(other)]);
  const heard: string[] = [];
  await bus.consume('alpha', async ({ id }) => void heard.push(id), { prefetch: 4 });
  const after = createEvent('thing.made');
  await publishUntilAccepted(other, after);
  await until('the event', async () => heard.includes(after.id));
  expect(told).toEqual({ one: 2, two: two + 1 });
}, 90_000);

test('while the broker has no memory left the bus is down and waits, and then goes on by itself', async () => {
  const bus = await stage.open();
  const heard = new Set<string>();
  await bus.consume('alpha', async ({ id }) => void heard.add(id), { prefetch: 16 });
  await rabbit.ctl('set_vm_memory_high_watermark', '0.0000001');
  const events = Array.from({ length: 20 }, () => createEvent('thing.gone'));
  try {
    const waiting = bus.publish(createEvent('thing.gone')).then(
      () => 'taken',
      (error: unknown) => error,
    );
    await until('the bus to know', async () => !bus.up);
    for (const event of events) await expect(bus.publish(event)).rejects.toBeInstanceOf(BusDown);
    expect(await waiting).toBeInstanceOf(BusDown);
    expect(stage.errors.join()).toMatch(/blocked/);
  } finally {
    await rabbit.ctl('set_vm_memory_high_watermark', '0.4');
  }
  await untilUp(bus);
  for (const event of events) await publishUntilAccepted(bus, event);
  await until('all', async () => ids(events).every((id) => heard.has(id)));
}, 60_000);

test('connections that the broker closes are opened again, and what was in hand comes again', async () => {
  const bus = await stage.open();
  const gate = Promise.withResolvers<void>();
  const begun: string[] = [];
  const slow = async ({ id }: { id: string }) => {
    begun.push(id);
    await gate.promise;
  };
  await bus.consume('alpha', slow, { prefetch: 4 });
  const events = Array.from({ length: 4 }, () => createEvent('thing.gone'));
  for (const event of events) await publishUntilAccepted(bus, event);
  await until('all in hand', async () => begun.length === 4);
  const before = stage.errors.length;
  await rabbit.ctl('close_all_connections', 'a test');
  // it may be up again before the command has ended
  const isLost = (connection: string) =>
    stage.errors
      .slice(before)
      .some((one) => one.startsWith(`The connection that ${connection} events is lost`));
  await until('the bus to know', async () => isLost('hears') && isLost('says'));
  gate.resolve();
  await until('all of them again', async () => ids(events).every((id) => begun.indexOf(id, 4) > 0), 20_000);
  await untilUp(bus);
  const after = createEvent('thing.gone');
  await publishUntilAccepted(bus, after);
  await until('the next one', async () => begun.includes(after.id));
  expect(await bus.dead('alpha')).toEqual([]);
}, 40_000);

test('a handler that takes longer than the broker waits loses its channel, and its event comes again without an error', async () => {
  // both are read when a channel is opened; RabbitMQ's own are half an hour and a minute
  const limits = (timeout: number, tick: number) =>
    rabbit.ctl(
      'eval',
      `application:set_env(rabbit, consumer_timeout, ${timeout}), application:set_env(rabbit, channel_tick_interval, ${tick}).`,
    );
  await limits(500, 200);
  try {
    const bus = await stage.open();
    const gate = Promise.withResolvers<void>();
    const begun: string[] = [];
    const slow = async ({ id }: { id: string }) => {
      begun.push(id);
      if (begun.length === 1) await gate.promise;
    };
    await bus.consume('alpha', slow, { prefetch: 16 });
    const [late, after] = [createEvent('thing.gone'), createEvent('thing.gone')];
    await publishUntilAccepted(bus, late);
    await until('it again', async () => begun.length === 2, 20_000);
    expect(begun).toEqual([late.id, late.id]);
    expect(stage.errors.join()).toMatch(/alpha is lost and will be opened again: .*timeout/i);
    gate.resolve();
    await publishUntilAccepted(bus, after);
    await until('the next one', async () => begun.includes(after.id));
    expect([begun.length, await bus.dead('alpha')]).toEqual([3, []]);
  } finally {
    await limits(1_800_000, 60_000);
  }
}, 60_000);
