/** Tests that events redelivered after a crash are consumed one at a time, without other events in flight. */
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

const count = 12;
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

/** A handler that records, for each event, how many other events are ready in the queue. */
function createHandler() {
  const ready: number[] = [];
  let [inFlight, max] = [0, 0];
  return {
    ready,
    maxInFlight: () => max,
    async handle(): Promise<void> {
      inFlight += 1;
      max = Math.max(max, inFlight);
      ready.push(await countReady(fixture, 'alpha'));
      inFlight -= 1;
    },
  };
}

/** The ready events at each event if no other event is in flight. */
const allReady = Array.from({ length: count }, (_, at) => count - 1 - at);

test('a new process consumes redelivered events one at a time', async () => {
  const bus = await fixture.open();
  for (let index = 0; index < count; index += 1) await publishUntilAccepted(bus, createEvent('thing.gone'));
  await killWhileHandling(fixture, 'alpha', count);
  const { ready, maxInFlight, handle } = createHandler();
  await bus.consume('alpha', handle, { prefetch: 16 });
  await until('all events are handled', async () => ready.length === count);
  expect(maxInFlight()).toBe(1);
  expect(ready).toEqual(allReady);
});

test('a busy process switches to one event at a time on a redelivered event', async () => {
  const prefetch = 4;
  const bus = await fixture.open();
  const gate = Promise.withResolvers<void>();
  const started = new Set<string>();
  const { ready, maxInFlight, handle } = createHandler();
  const fresh = Array.from({ length: prefetch }, () => createEvent('thing.gone'));
  const handler = async ({ id }: Envelope) => {
    started.add(id);
    if (fresh.some((event) => event.id === id)) await gate.promise;
    else await handle();
  };
  await bus.consume('alpha', handler, { prefetch });
  for (const event of fresh) await publishUntilAccepted(bus, event);
  await until('the prefetch is reached', async () => started.size === prefetch);
  for (let index = 0; index < count; index += 1) await publishUntilAccepted(bus, createEvent('thing.gone'));
  await killWhileHandling(fixture, 'alpha', count);
  gate.resolve();
  await until('all events are handled', async () => ready.length === count);
  expect(maxInFlight()).toBe(1);
  // the first batch arrived before the prefetch was lowered
  expect(ready.slice(prefetch)).toEqual(allReady.slice(prefetch));
});
