/** Events that come back because a process died with them: one at a time, and nothing else is taken in hand beside them. */
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
let stage: AmqpFixture;
beforeAll(async () => {
  rabbit = await testRabbit();
}, 400_000);
beforeEach(() => {
  stage = amqpFixture(rabbit.url);
});
afterEach(() => stage.clear());
afterAll(() => rabbit?.stop());

/** A handler that looks, at each event, how many others nobody has in hand. */
function looking() {
  const left: number[] = [];
  let [inHand, most] = [0, 0];
  return {
    left,
    most: () => most,
    async handle(): Promise<void> {
      inHand += 1;
      most = Math.max(most, inHand);
      left.push(await countReady(stage, 'alpha'));
      inHand -= 1;
    },
  };
}

/** What is left at each event when none but that one is in hand. */
const allLeft = Array.from({ length: count }, (_, at) => count - 1 - at);

test('a process that begins takes them one by one', async () => {
  const bus = await stage.open();
  for (let made = 0; made < count; made += 1) await publishUntilAccepted(bus, createEvent('thing.gone'));
  await killWhileHandling(stage, 'alpha', count);
  const { left, most, handle } = looking();
  await bus.consume('alpha', handle, { prefetch: 16 });
  await until('all of them', async () => left.length === count);
  expect(most()).toBe(1);
  expect(left).toEqual(allLeft);
}, 30_000);

test('a process that had its hand full takes them one by one as soon as one has come', async () => {
  const prefetch = 4;
  const bus = await stage.open();
  const gate = Promise.withResolvers<void>();
  const begun = new Set<string>();
  const { left, most, handle } = looking();
  const fresh = Array.from({ length: prefetch }, () => createEvent('thing.gone'));
  const handler = async ({ id }: Envelope) => {
    begun.add(id);
    if (fresh.some((one) => one.id === id)) await gate.promise;
    else await handle();
  };
  await bus.consume('alpha', handler, { prefetch });
  for (const event of fresh) await publishUntilAccepted(bus, event);
  await until('a full hand', async () => begun.size === prefetch);
  for (let made = 0; made < count; made += 1) await publishUntilAccepted(bus, createEvent('thing.gone'));
  await killWhileHandling(stage, 'alpha', count);
  gate.resolve();
  await until('all of them', async () => left.length === count);
  expect(most()).toBe(1);
  // those that came together were taken before the first of them could say so
  expect(left.slice(prefetch)).toEqual(allLeft.slice(prefetch));
}, 30_000);
