/** Tests of the retry queue: events over the delivery limit are handled once more, one at a time. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Envelope } from '#libs/contract';
import {
  type AmqpFixture,
  amqpFixture,
  countReady,
  createEvent,
  killWhileHandling,
  publishUntilAccepted,
} from '../../testing/amqp-fixture.ts';
import { type TestRabbit, testRabbit } from '../../testing/rabbit.ts';
import { until } from '../../testing/until.ts';

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

/**
 * Publishes events and crashes consumers until the events are over the delivery limit, in the retry queue.
 */
async function fillRetryQueue(count: number): Promise<Envelope[]> {
  const bus = await fixture.open();
  const events = Array.from({ length: count }, () => createEvent('thing.gone'));
  for (const event of events) await publishUntilAccepted(bus, event);
  // one delivery and five redeliveries
  for (let deaths = 0; deaths < 6; deaths += 1) await killWhileHandling(fixture, 'alpha', count);
  await until('all events are in the retry queue', async () => (await countIn('retry')) === count);
  return events;
}

const countIn = (suffix: 'retry' | 'dead') => countReady(fixture, `alpha.${suffix}`);

test('events over the delivery limit are handled one at a time', async () => {
  const events = await fillRetryQueue(4);
  const bus = await fixture.open();
  const { handled, maxInFlight, handle } = createSlowHandler();
  await bus.consume('alpha', handle, { prefetch: 16 });
  await until('all events are handled', async () => handled.length === events.length);
  expect(handled).toEqual(events.map(({ id }) => id));
  expect(maxInFlight()).toBe(1);
  expect([await countIn('retry'), await countIn('dead')]).toEqual([0, 0]);
});

test('an event that fails in the retry queue too is dead-lettered', async () => {
  const [event] = await fillRetryQueue(1);
  const bus = await fixture.open({ retries: [10, 10] });
  let tries = 0;
  const fails = async () => {
    tries += 1;
    throw new Error('never');
  };
  await bus.consume('alpha', fails, { prefetch: 16 });
  const dead = await until('the dead letter', async () => {
    const letters = await bus.dead('alpha');
    return letters.length > 0 && letters;
  });
  expect(dead).toEqual([event]);
  expect([tries, await countIn('retry')]).toEqual([3, 0]);
});

test('an event that a handler rejected is not retried after earlier crashes', async () => {
  const bus = await fixture.open({ retries: [] });
  const event = createEvent('thing.gone');
  await publishUntilAccepted(bus, event);
  await killWhileHandling(fixture, 'alpha', 1);
  let tries = 0;
  const fails = async () => {
    tries += 1;
    throw new Error('never');
  };
  await bus.consume('alpha', fails, { prefetch: 16 });
  await until('the dead letter', async () => (await countIn('dead')) === 1);
  expect([tries, await countIn('retry')]).toEqual([1, 0]);
});

test('a process does not consume the retry queue before its delay', async () => {
  const [event] = await fillRetryQueue(1);
  const young = await fixture.open({ retryQueueDelayMs: 60_000 });
  const handled: string[] = [];
  await young.consume('alpha', async ({ id }) => void handled.push(id), { prefetch: 16 });
  const fresh = createEvent('thing.gone');
  await publishUntilAccepted(young, fresh);
  await until('the fresh event is handled', async () => handled.includes(fresh.id));
  expect([handled, await countIn('retry')]).toEqual([[fresh.id], 1]);
  const old = await fixture.open();
  await old.consume('alpha', async ({ id }) => void handled.push(id), { prefetch: 16 });
  await until('the other event is handled', async () => handled.includes(event?.id ?? ''));
});

/** A handler that takes 20 ms and records the maximum number of events in flight. */
function createSlowHandler() {
  const handled: string[] = [];
  let [inFlight, max] = [0, 0];
  return {
    handled,
    maxInFlight: () => max,
    async handle({ id }: Envelope): Promise<void> {
      inFlight += 1;
      max = Math.max(max, inFlight);
      await new Promise((resolve) => setTimeout(resolve, 20));
      inFlight -= 1;
      handled.push(id);
    },
  };
}
