/** What was set aside only because processes died with it in hand is handled once more, alone; what fails again is dead. */
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
let stage: AmqpFixture;
beforeAll(async () => {
  rabbit = await testRabbit();
}, 400_000);
beforeEach(() => {
  stage = amqpFixture(rabbit.url);
});
afterEach(() => stage.clear());
afterAll(() => rabbit?.stop());

/** So many events that nobody has refused, and with which processes died until they were set aside. */
async function innocents(count: number): Promise<Envelope[]> {
  const bus = await stage.open();
  const events = Array.from({ length: count }, () => createEvent('thing.gone'));
  for (const event of events) await publishUntilAccepted(bus, event);
  // one delivery, and five more
  for (let deaths = 0; deaths < 6; deaths += 1) await killWhileHandling(stage, 'alpha', count);
  await until('all of it set aside', async () => (await waiting('retry')) === count);
  return events;
}

const waiting = (where: 'retry' | 'dead') => countReady(stage, `alpha.${where}`);

test('innocents are handled, one at a time, and are no dead letters', async () => {
  const events = await innocents(4);
  const bus = await stage.open();
  const { handled, most, handle } = oneAtATime();
  await bus.consume('alpha', handle, { prefetch: 16 });
  await until('all of them', async () => handled.length === events.length);
  expect(handled).toEqual(events.map(({ id }) => id));
  expect(most()).toBe(1);
  expect([await waiting('retry'), await waiting('dead')]).toEqual([0, 0]);
}, 30_000);

test('what fails on its second chance as well is dead, after as many tries as ever', async () => {
  const [event] = await innocents(1);
  const bus = await stage.open({ retries: [10, 10] });
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
  expect([tries, await waiting('retry')]).toEqual([3, 0]);
}, 30_000);

test('what a process refused is not tried again, even if processes died with it before', async () => {
  const bus = await stage.open({ retries: [] });
  const event = createEvent('thing.gone');
  await publishUntilAccepted(bus, event);
  await killWhileHandling(stage, 'alpha', 1);
  let tries = 0;
  const fails = async () => {
    tries += 1;
    throw new Error('never');
  };
  await bus.consume('alpha', fails, { prefetch: 16 });
  await until('the dead letter', async () => (await waiting('dead')) === 1);
  expect([tries, await waiting('retry')]).toEqual([1, 0]);
}, 30_000);

test('a process that has just begun leaves them to one that lives', async () => {
  const [event] = await innocents(1);
  const young = await stage.open({ retryQueueDelayMs: 60_000 });
  const handled: string[] = [];
  await young.consume('alpha', async ({ id }) => void handled.push(id), { prefetch: 16 });
  const fresh = createEvent('thing.gone');
  await publishUntilAccepted(young, fresh);
  await until('the fresh one', async () => handled.includes(fresh.id));
  expect([handled, await waiting('retry')]).toEqual([[fresh.id], 1]);
  const old = await stage.open();
  await old.consume('alpha', async ({ id }) => void handled.push(id), { prefetch: 16 });
  await until('the other', async () => handled.includes(event?.id ?? ''));
}, 30_000);

/** A handler that is slow enough for others to be seen beside it. */
function oneAtATime() {
  const handled: string[] = [];
  let [inHand, most] = [0, 0];
  return {
    handled,
    most: () => most,
    async handle({ id }: Envelope): Promise<void> {
      inHand += 1;
      most = Math.max(most, inHand);
      await new Promise((resolve) => setTimeout(resolve, 20));
      inHand -= 1;
      handled.push(id);
    },
  };
}
