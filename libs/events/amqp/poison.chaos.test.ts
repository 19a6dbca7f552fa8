/**
 * Tests that only the event that kills its process is dead-lettered: the other events in flight are handled.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import {
  type AmqpFixture,
  amqpFixture,
  createEvent,
  publishUntilAccepted,
  takeIds,
} from '../../testing/amqp-fixture.ts';
import { type TestRabbit, testRabbit } from '../../testing/rabbit.ts';
import { until } from '../../testing/until.ts';

let rabbit: TestRabbit;
let fixture: AmqpFixture;
let folder: string;
beforeAll(async () => {
  rabbit = await testRabbit();
  folder = await mkdtemp(join(tmpdir(), 'pds-poison-'));
}, 400_000);
beforeEach(() => {
  fixture = amqpFixture(rabbit.url);
});
afterEach(() => fixture.clear());
afterAll(async () => {
  await rabbit?.stop();
  await rm(folder, { recursive: true, force: true });
});

// with two replicas, the surviving one receives the events of the other
test.each([1, 2])(
  'only the event that kills its process is dead-lettered (replicas: %d)',
  async (replicas) => {
    const bus = await fixture.open({ topology: new Map([['alpha', ['thing.gone']]]) });
    const spy = `${fixture.prefix}spy`;
    await fixture.withChannel(async (channel) => {
      await channel.assertQueue(spy);
      await channel.bindQueue(spy, `${fixture.prefix}events.dead`, 'alpha');
    });
    const workers = createWorkers(join(folder, `handled-${replicas}`));
    for (let count = 0; count < replicas; count += 1) workers.start();
    try {
      const first = Array.from({ length: 8 }, () => createEvent('thing.gone'));
      await Promise.all(first.map((event) => publishUntilAccepted(bus, event)));
      await until('the first events are handled', () => workers.haveHandled(first));
      const poison = createEvent('thing.gone', { kills: true });
      const others = Array.from({ length: 63 }, () => createEvent('thing.gone'));
      const all = [...others.slice(0, 30), poison, ...others.slice(30)];
      await Promise.all(all.map((event) => publishUntilAccepted(bus, event)));
      await until('a dead letter', async () => (await bus.dead('alpha')).length > 0);
      await until('the other events are handled', () => workers.haveHandled([...first, ...others]));
      expect((await bus.dead('alpha')).map(({ id }) => id)).toEqual([poison.id]);
      // no other event went through the retry queue
      expect(await fixture.withChannel((channel) => takeIds(channel, spy))).toEqual([poison.id]);
      // six deliveries from the queue and two from the retry queue
      expect(workers.deaths()).toBe(8);
    } finally {
      workers.stop();
      await fixture.withChannel((channel) => channel.deleteQueue(spy));
    }
  },
);

/**
 * Starts processes that consume events and append the handled ids to a file. A process that dies is replaced.
 */
function createWorkers(file: string) {
  const script = new URL('../../testing/poison-victim.ts', import.meta.url).pathname;
  const children = new Set<ChildProcess>();
  let deaths = 0;
  let isStopped = false;
  const start = () => {
    const child = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', script, rabbit.url, fixture.prefix, file],
      { stdio: 'ignore' },
    );
    children.add(child);
    child.on('exit', () => {
      children.delete(child);
      deaths += 1;
      // like an orchestrator
      if (!isStopped) start();
    });
  };
  return {
    start,
    deaths: () => deaths,
    async haveHandled(events: readonly { id: string }[]) {
      const ids = new Set((await readFile(file, 'utf8').catch(() => '')).split('\n'));
      return events.every(({ id }) => ids.has(id));
    },
    stop() {
      isStopped = true;
      for (const child of children) child.kill('SIGKILL');
    },
  };
}
