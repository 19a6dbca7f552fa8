/** Dead letters as whoever is on call has them in hand: listed, shown, and sent once more when the cause is mended. */

import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Envelope, newId, Secret } from '#libs/contract';
import { amqpBus, type Bus, toTopology, UnrecoverableError } from '#libs/events';
import { type TestRabbit, testRabbit, until } from '#libs/testing';
import { contracts } from '../services/contracts.ts';
import { runScript } from './programs.ts';

const prefix = `test-${randomBytes(4).toString('hex')}.`;
const queue = 'webhook-delivery';
let rabbit: TestRabbit;
let bus: Bus;
let isRepaired = false;
const handled: string[] = [];

beforeAll(async () => {
  rabbit = await testRabbit();
  bus = amqpBus({
    ...{ url: new Secret(rabbit.url), prefix, calmMs: 0, onError: () => undefined },
    topology: toTopology(contracts),
  });
  await until('the bus', async () => bus.up);
  const handler = async ({ id }: Envelope) => {
    if (!isRepaired) throw new UnrecoverableError('broken');
    handled.push(id);
  };
  await bus.consume(queue, handler, { prefetch: 4 });
}, 400_000);
afterAll(async () => {
  await bus?.close();
  await rabbit?.stop();
});

async function runDeadLetters(...args: string[]): Promise<{ code: number | null; text: string }> {
  const { exited, printed } = runScript('dead-letters.ts', args, {
    AMQP_URL: rabbit.url,
    AMQP_PREFIX: prefix,
  });
  return { code: await exited, text: printed() };
}

const countDead = async () => (await bus.depth(queue)).dead;

test('what a service gave up is listed, shown, and handled once it is sent again; the rest stays', async () => {
  const events = Array.from({ length: 3 }, () => ({
    id: newId(),
    type: 'document.published',
    occurred_at: new Date().toISOString(),
    organization_id: newId(),
    actor_id: null,
    data: { why: 'a test' },
  }));
  for (const event of events) await bus.publish(event);
  await until('all of them dead', async () => (await countDead()) === 3);
  const [first, second, third] = events.map(({ id }) => id);

  const listed = await runDeadLetters('list');
  expect(listed.code).toBe(0);
  expect(listed.text).toContain(`${queue.padEnd(20)}3 dead, 0 set aside, 0 waiting`);
  for (const id of [first, second, third])
    expect(listed.text).toMatch(new RegExp(`^  ${id} +document.published`, 'm'));

  const shown = await runDeadLetters('show', queue, `${second}`);
  expect(JSON.parse(shown.text)).toEqual(events[1]);

  // still broken: it comes back
  await runDeadLetters('replay', queue, `${second}`);
  await until('it to be dead again', async () => (await countDead()) === 3);

  isRepaired = true;
  const replayed = await runDeadLetters('replay', queue, `${second}`);
  expect(replayed.text).toContain(`1 of ${queue} are sent once more.`);
  expect(replayed.text).toMatch(new RegExp(`"audit":true.*"event":"dead_letter.replay".*"id":"${second}"`));
  await until('the second', async () => handled.length === 1);
  expect(handled).toEqual([second]);
  await until('two left', async () => (await countDead()) === 2);

  expect((await runDeadLetters('replay', queue, '--all')).code).toBe(0);
  await until('the rest', async () => handled.length === 3);
  expect(handled.toSorted()).toEqual([first, second, third].toSorted());
  expect(await countDead()).toBe(0);
}, 60_000);

test('what is not there, or no queue, is said and ends with 1', async () => {
  const missing = await runDeadLetters('replay', queue, 'nothing');
  expect([missing.code, missing.text]).toEqual([1, expect.stringContaining('Not there: nothing')]);
  const wrong = await runDeadLetters('replay', 'nobody', '--all');
  expect([wrong.code, wrong.text]).toEqual([1, expect.stringContaining('Queues: ')]);
}, 30_000);
