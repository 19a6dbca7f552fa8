/** Tests of the bus while the broker is killed, frozen, reset or out of memory. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Secret } from '#libs/contract';
import {
  type AmqpFixture,
  amqpFixture,
  createEvent,
  publishUntilAccepted,
  untilUp,
} from '../../testing/amqp-fixture.ts';
import { ownRabbit } from '../../testing/rabbit.ts';
import type { RabbitBroker } from '../../testing/rabbit-broker.ts';
import { slowness, until } from '../../testing/until.ts';
import { BusDown } from '../bus.ts';
import { UnrecoverableError } from '../retries.ts';
import { openDeadLetters } from './replay.ts';

let rabbit: RabbitBroker;
let fixture: AmqpFixture;
beforeAll(async () => {
  rabbit = await ownRabbit();
}, 400_000);
beforeEach(() => {
  fixture = amqpFixture(rabbit.url);
});
afterEach(() => fixture.close());
afterAll(() => rabbit?.stop());

const ids = (events: readonly { id: string }[]) => events.map(({ id }) => id);

test('a broker that is killed and restarted under load loses no event', async () => {
  const bus = await fixture.open();
  const received = new Set<string>();
  await bus.consume('alpha', async ({ id }) => void received.add(id), { prefetch: 16 });
  const events = Array.from({ length: 300 }, () => createEvent('thing.gone'));
  const allPublished = (async () => {
    for (const event of events) await publishUntilAccepted(bus, event);
  })();
  await until('half of the events are received', async () => received.size > 150);
  await rabbit.settle();
  await rabbit.kill();
  await until('the bus is down', async () => !bus.up);
  await expect(bus.publish(createEvent('thing.gone'))).rejects.toBeInstanceOf(BusDown);
  await rabbit.start();
  await untilUp(bus);
  await allPublished;
  await until('all events are received', async () => ids(events).every((id) => received.has(id)));
  expect(await bus.dead('alpha')).toEqual([]);
});

test('a frozen broker is detected, and the bus recovers', async () => {
  const bus = await fixture.open();
  const received = new Set<string>();
  await bus.consume('alpha', async ({ id }) => void received.add(id), { prefetch: 16 });
  const before = createEvent('thing.gone');
  await publishUntilAccepted(bus, before);
  await rabbit.freeze();
  try {
    const lost = createEvent('thing.gone');
    await expect(bus.publish(lost)).rejects.toThrow();
    await until('the bus is down', async () => !bus.up);
    rabbit.thaw();
    await untilUp(bus);
    await publishUntilAccepted(bus, lost);
    await until('both events are received', async () => received.has(before.id) && received.has(lost.id));
  } finally {
    rabbit.thaw();
  }
});

/** The heartbeat of this URL, one minute, does not detect a frozen broker in time. */
const withoutHeartbeat = () => ({ url: new Secret(`${rabbit.url}?heartbeat=60`) });

test('a publish is rejected if a frozen broker does not confirm it', async () => {
  const bus = await fixture.open(withoutHeartbeat());
  await rabbit.freeze();
  try {
    const lost = bus.publish(createEvent('thing.gone'));
    await expect(lost).rejects.toThrow('The broker did not confirm thing.gone within 5 s');
    await until('the bus is down', async () => !bus.up);
  } finally {
    rabbit.thaw();
  }
  await untilUp(bus);
});

test('a bus closes while the broker is frozen', async () => {
  const bus = await fixture.open(withoutHeartbeat());
  const received: string[] = [];
  await bus.consume('alpha', async ({ id }) => void received.push(id), { prefetch: 16 });
  await publishUntilAccepted(bus, createEvent('thing.gone'));
  await until('a consumer receives events', async () => received.length > 0);
  await rabbit.freeze();
  // the broker confirms the first consumer, but not this one
  await bus.consume('beta', async () => {}, { prefetch: 16 });
  await pause(50);
  try {
    await bus.close();
  } finally {
    rabbit.thaw();
  }
});

test('a consumer cancelled while the broker is frozen stays cancelled', async () => {
  const bus = await fixture.open(withoutHeartbeat());
  await rabbit.freeze();
  const early: string[] = [];
  const received: string[] = [];
  try {
    const consumer = await bus.consume('alpha', async ({ id }) => void early.push(id), { prefetch: 4 });
    await pause(50);
    await consumer.cancel();
  } finally {
    rabbit.thaw();
  }
  await untilUp(bus);
  await bus.consume('alpha', async ({ id }) => void received.push(id), { prefetch: 4 });
  let sent = 0;
  // the broker subscribes it when it continues, and then cancels it
  await until('only the second consumer gets events', async () => {
    const before = early.length;
    for (let count = 0; count < 20; count += 1) await publishUntilAccepted(bus, createEvent('thing.gone'));
    sent += 20;
    await until('all events are received', async () => early.length + received.length >= sent);
    return early.length === before;
  });
});

test('each owner of an outbox is notified once when the broker was reset', async () => {
  const resets = { one: 0, two: 0 };
  const onResetOne = async () => {
    resets.one += 1;
  };
  const bus = await fixture.open({ owners: ['one'], onBrokerReset: onResetOne });
  let fails = true;
  const onBrokerReset = async () => {
    resets.two += 1;
    if (fails) throw new Error('the database is down');
  };
  const other = await fixture.open({ owners: ['two'], onBrokerReset });
  // to an owner, a broker without its sentinel has been reset
  await until('both are notified', async () => resets.one === 1 && resets.two > 0);
  fails = false;
  const sentinel = () =>
    fixture.withChannel((channel) => channel.checkQueue(`${fixture.prefix}two.sentinel`));
  await until('the second sentinel exists', () => sentinel().catch(() => false as const));
  const { two } = resets;

  await rabbit.settle();
  await rabbit.start();
  await Promise.all([untilUp(bus), untilUp(other)]);
  await publishUntilAccepted(bus, createEvent('thing.gone'));
  expect(resets).toEqual({ one: 1, two });

  await rabbit.start({ empty: true });
  await until('both are notified again', async () => resets.one === 2 && resets.two === two + 1);
  await Promise.all([untilUp(bus), untilUp(other)]);
  const received: string[] = [];
  await bus.consume('alpha', async ({ id }) => void received.push(id), { prefetch: 4 });
  const after = createEvent('thing.made');
  await publishUntilAccepted(other, after);
  await until('the event is received', async () => received.includes(after.id));
  expect(resets).toEqual({ one: 2, two: two + 1 });
});

test('the bus is down while the broker is out of memory, and then recovers', async () => {
  const bus = await fixture.open();
  const received = new Set<string>();
  await bus.consume('alpha', async ({ id }) => void received.add(id), { prefetch: 16 });
  await rabbit.ctl('set_vm_memory_high_watermark', '0.0000001');
  const events = Array.from({ length: 20 }, () => createEvent('thing.gone'));
  try {
    const waiting = bus.publish(createEvent('thing.gone')).then(
      () => 'published',
      (error: unknown) => error,
    );
    await until('the bus is down', async () => !bus.up);
    for (const event of events) await expect(bus.publish(event)).rejects.toBeInstanceOf(BusDown);
    expect(await waiting).toBeInstanceOf(BusDown);
    expect(fixture.errors.join()).toMatch(/RabbitMQ blocked pds-publisher/);
  } finally {
    await rabbit.ctl('set_vm_memory_high_watermark', '0.4');
  }
  await untilUp(bus);
  for (const event of events) await publishUntilAccepted(bus, event);
  await until('all events are received', async () => ids(events).every((id) => received.has(id)));
});

test('connections closed by the broker reopen, and events in flight return', async () => {
  const bus = await fixture.open();
  const gate = Promise.withResolvers<void>();
  const started: string[] = [];
  const slow = async ({ id }: { id: string }) => {
    started.push(id);
    await gate.promise;
  };
  await bus.consume('alpha', slow, { prefetch: 4 });
  const events = Array.from({ length: 4 }, () => createEvent('thing.gone'));
  for (const event of events) await publishUntilAccepted(bus, event);
  await until('all events are in flight', async () => started.length === 4);
  const before = fixture.errors.length;
  await rabbit.ctl('close_all_connections', 'a test');
  // the bus may be up again before the command has ended
  const isLost = (connection: string) =>
    fixture.errors
      .slice(before)
      .some((error) => error.startsWith(`RabbitMQ ${connection} connection was lost`));
  await until('both connections are lost', async () => isLost('consumer') && isLost('publisher'));
  gate.resolve();
  const areRedelivered = async () => ids(events).every((id) => started.indexOf(id, 4) > 0);
  await until('all events are redelivered', areRedelivered);
  await untilUp(bus);
  const after = createEvent('thing.gone');
  await publishUntilAccepted(bus, after);
  await until('the next event is received', async () => started.includes(after.id));
  expect(await bus.dead('alpha')).toEqual([]);
});

test('an event is redelivered if its handler exceeds the consumer timeout', async () => {
  // RabbitMQ reads both when a channel opens; its defaults are 30 minutes and one minute
  const limits = (timeout: number, tick: number) =>
    rabbit.ctl(
      'eval',
      `application:set_env(rabbit, consumer_timeout, ${timeout}), application:set_env(rabbit, channel_tick_interval, ${tick}).`,
    );
  // long enough for the other handlers on a busy machine
  await limits(Math.ceil(3_000 * slowness), 500);
  try {
    const bus = await fixture.open();
    const gate = Promise.withResolvers<void>();
    const started: string[] = [];
    const slow = async ({ id }: { id: string }) => {
      started.push(id);
      if (started.length === 1) await gate.promise;
    };
    await bus.consume('alpha', slow, { prefetch: 16 });
    const [late, after] = [createEvent('thing.gone'), createEvent('thing.gone')];
    await publishUntilAccepted(bus, late);
    await until('the event is redelivered', async () => started.length === 2);
    expect(started).toEqual([late.id, late.id]);
    expect(fixture.errors.join()).toMatch(/alpha was lost and is being reopened: .*timeout/i);
    gate.resolve();
    await publishUntilAccepted(bus, after);
    await until('the next event is received', async () => started.includes(after.id));
    expect([started.length, await bus.dead('alpha')]).toEqual([3, []]);
  } finally {
    await limits(1_800_000, 60_000);
  }
});

test('all dead letters are replayed while the broker cannot count them', async () => {
  const bus = await fixture.open();
  let isBroken = true;
  const handled: string[] = [];
  const handle = async ({ id }: { id: string }) => {
    if (isBroken) throw new UnrecoverableError('broken');
    handled.push(id);
  };
  await bus.consume('alpha', handle, { prefetch: 4 });
  const events = Array.from({ length: 3 }, () => createEvent('thing.gone'));
  for (const event of events) await publishUntilAccepted(bus, event);
  await until('three dead letters', async () => (await bus.dead('alpha')).length === 3);
  isBroken = false;
  const letters = await openDeadLetters({ url: new Secret(rabbit.url), prefix: fixture.prefix });
  try {
    // like the process of a queue that has no CPU time for a moment
    const queue = `'%2F_${fixture.prefix}alpha.dead'`;
    await rabbit.ctl('eval', `sys:suspend(${queue}).`);
    const replayed = letters.replay('alpha');
    await rabbit.ctl('eval', `sys:resume(${queue}).`);
    expect(await replayed).toEqual(ids(events));
  } finally {
    await letters.close();
  }
  await until('all events are handled', async () => ids(events).every((id) => handled.includes(id)));
  expect(await bus.dead('alpha')).toEqual([]);
});
