/** Tests `npm run admin -- dead-letters`: list and show dead letters, and replay them after a repair. */

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
    ...{ url: new Secret(rabbit.url), prefix, retryQueueDelayMs: 0, onError: () => undefined },
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
  const { exited, printed } = runScript('../tools/admin/main.ts', ['dead-letters', ...args], {
    AMQP_URL: rabbit.url,
    AMQP_PREFIX: prefix,
  });
  return { code: await exited, text: printed() };
}

const countDead = async () => (await bus.depth(queue)).dead;

test('dead letters are listed, shown and replayed one by one or all at once', async () => {
  const events = Array.from({ length: 3 }, () => ({
    id: newId(),
    type: 'document.published',
    occurred_at: new Date().toISOString(),
    organization_id: newId(),
    actor_id: null,
    data: { reason: 'a test' },
  }));
  for (const event of events) await bus.publish(event);
  await until('three dead letters', async () => (await countDead()) === 3);
  const [first, second, third] = events.map(({ id }) => id);

  // RabbitMQ counts no messages in a queue that does not respond within 250 ms
  const listed = await until('a list with the number of dead letters', async () => {
    const found = await runDeadLetters('list');
    expect(found.code).toBe(0);
    return found.text.includes(`${queue.padEnd(20)}3 dead, 0 to retry, 0 ready`) && found;
  });
  for (const id of [first, second, third])
    expect(listed.text).toMatch(new RegExp(`^  ${id} +document.published`, 'm'));

  const printed = await runDeadLetters('show', queue, `${second}`);
  expect(JSON.parse(printed.text)).toEqual(events[1]);

  // the handler still fails, so the event is dead-lettered again
  await runDeadLetters('replay', queue, `${second}`);
  await until('the event to be dead again', async () => (await countDead()) === 3);

  isRepaired = true;
  const replayed = await runDeadLetters('replay', queue, `${second}`);
  expect(replayed.text).toContain(`Dead letters of ${queue} replayed: 1`);
  expect(replayed.text).toMatch(new RegExp(`"audit":true.*"event":"dead_letter.replay".*"id":"${second}"`));
  await until('the second event', async () => handled.length === 1);
  expect(handled).toEqual([second]);
  await until('two dead letters', async () => (await countDead()) === 2);

  expect((await runDeadLetters('replay', queue, '--all')).code).toBe(0);
  await until('the other events', async () => handled.length === 3);
  expect(handled.toSorted()).toEqual([first, second, third].toSorted());
  expect(await countDead()).toBe(0);
});

test('an unknown event or queue is reported and exits with 1', async () => {
  const missing = await runDeadLetters('replay', queue, 'nothing');
  expect([missing.code, missing.text]).toEqual([1, expect.stringContaining('Not found: nothing')]);
  const wrong = await runDeadLetters('replay', 'unknown', '--all');
  expect([wrong.code, wrong.text]).toEqual([1, expect.stringContaining('Queues: ')]);
});
