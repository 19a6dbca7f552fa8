/** An event that kills its process is set aside alone: its neighbours in hand are handled, and never set aside themselves. */
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
let stage: AmqpFixture;
let folder: string;
beforeAll(async () => {
  rabbit = await testRabbit();
  folder = await mkdtemp(join(tmpdir(), 'pds-poison-'));
}, 400_000);
beforeEach(() => {
  stage = amqpFixture(rabbit.url);
});
afterEach(() => stage.clear());
afterAll(async () => {
  await rabbit?.stop();
  await rm(folder, { recursive: true, force: true });
});

// of two replicas, who survives gets in hand what the other leaves behind
test.each([1, 2])(
  'an event that kills its process becomes a dead letter, its 63 neighbours are handled (replicas: %d)',
  async (replicas) => {
    const bus = await stage.open({ topology: new Map([['alpha', ['thing.gone']]]) });
    const spy = `${stage.prefix}spy`;
    await stage.withChannel(async (channel) => {
      await channel.assertQueue(spy);
      await channel.bindQueue(spy, `${stage.prefix}events.dead`, 'alpha');
    });
    const family = victims(join(folder, `handled-${replicas}`));
    for (let count = 0; count < replicas; count += 1) family.live();
    try {
      const first = Array.from({ length: 8 }, () => createEvent('thing.gone'));
      await Promise.all(first.map((event) => publishUntilAccepted(bus, event)));
      await until('a first round', () => family.haveHandled(first), 30_000);
      const poison = createEvent('thing.gone', { kills: true });
      const neighbours = Array.from({ length: 63 }, () => createEvent('thing.gone'));
      const all = [...neighbours.slice(0, 30), poison, ...neighbours.slice(30)];
      await Promise.all(all.map((event) => publishUntilAccepted(bus, event)));
      await until('a dead letter', async () => (await bus.dead('alpha')).length > 0, 60_000);
      await until('the neighbours', () => family.haveHandled([...first, ...neighbours]), 30_000);
      expect((await bus.dead('alpha')).map(({ id }) => id)).toEqual([poison.id]);
      // without the second chance it would be the same: no neighbour has needed it
      expect(await stage.withChannel((channel) => takeIds(channel, spy))).toEqual([poison.id]);
      // one delivery and five more, then the second chance and one more
      expect(family.deaths()).toBe(8);
    } finally {
      family.end();
      await stage.withChannel((channel) => channel.deleteQueue(spy));
    }
  },
  120_000,
);

/** Processes that hear events and write down in a file which they handled; each that dies is followed by another. */
function victims(file: string) {
  const script = new URL('../../testing/poison-victim.ts', import.meta.url).pathname;
  const living = new Set<ChildProcess>();
  let deaths = 0;
  let ending = false;
  const live = () => {
    const child = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', script, rabbit.url, stage.prefix, file],
      { stdio: 'ignore' },
    );
    living.add(child);
    child.on('exit', () => {
      living.delete(child);
      deaths += 1;
      // as an orchestrator does
      if (!ending) live();
    });
  };
  return {
    live,
    deaths: () => deaths,
    async haveHandled(events: readonly { id: string }[]) {
      const ids = new Set((await readFile(file, 'utf8').catch(() => '')).split('\n'));
      return events.every(({ id }) => ids.has(id));
    },
    end() {
      ending = true;
      for (const child of living) child.kill('SIGKILL');
    },
  };
}
