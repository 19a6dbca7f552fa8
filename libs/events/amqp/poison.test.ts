/** An event that kills its process is set aside alone: its neighbours in hand are handled. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type AmqpStage, amqpStage, eventOf, published } from '../../testing/amqp-stage.ts';
import { type TestRabbit, testRabbit } from '../../testing/rabbit.ts';
import { until } from '../../testing/until.ts';

let rabbit: TestRabbit;
let stage: AmqpStage;
let folder: string;
beforeAll(async () => {
  rabbit = await testRabbit();
  folder = await mkdtemp(join(tmpdir(), 'pds-poison-'));
}, 400_000);
beforeEach(() => {
  stage = amqpStage(rabbit.url);
});
afterEach(async () => {
  await stage.close();
  await stage.past(async (channel) => {
    for (const name of ['alpha', 'alpha.dead']) await channel.deleteQueue(stage.prefix + name);
    for (const name of ['events', 'events.dead']) await channel.deleteExchange(stage.prefix + name);
  });
});
afterAll(async () => {
  await rabbit?.stop();
  await rm(folder, { recursive: true, force: true });
});

// of two replicas, who survives gets in hand what the other leaves behind
test.each([1, 2])(
  'an event that kills its process becomes a dead letter, its 63 neighbours are handled (replicas: %d)',
  async (replicas) => {
    const bus = await stage.open({ topology: new Map([['alpha', ['thing.gone']]]) });
    const file = join(folder, `handled-${replicas}`);
    const handled = async () => new Set((await readFile(file, 'utf8').catch(() => '')).split('\n'));
    let deaths = 0;
    let ending = false;
    const victims = new Set<ChildProcess>();
    const live = () => {
      const script = new URL('../../testing/poison-victim.ts', import.meta.url).pathname;
      const child = spawn(
        process.execPath,
        ['--disable-warning=ExperimentalWarning', script, rabbit.url, stage.prefix, file],
        { stdio: 'ignore' },
      );
      victims.add(child);
      child.on('exit', () => {
        victims.delete(child);
        deaths += 1;
        // as an orchestrator does
        if (!ending) live();
      });
    };
    for (let count = 0; count < replicas; count += 1) live();
    try {
      const first = Array.from({ length: 8 }, () => eventOf('thing.gone'));
      await Promise.all(first.map((event) => published(bus, event)));
      await until('a first round', async () => {
        const ids = await handled();
        return first.every(({ id }) => ids.has(id));
      });
      const poison = eventOf('thing.gone', { kills: true });
      const neighbours = Array.from({ length: 63 }, () => eventOf('thing.gone'));
      const all = [...neighbours.slice(0, 30), poison, ...neighbours.slice(30)];
      await Promise.all(all.map((event) => published(bus, event)));
      const dead = await until(
        'the poison among the dead',
        async () => {
          const letters = await bus.dead('alpha');
          return letters.some(({ id }) => id === poison.id) && letters;
        },
        60_000,
      );
      expect(dead.map(({ id }) => id)).toEqual([poison.id]);
      await until(
        'the neighbours',
        async () => {
          const ids = await handled();
          return [...first, ...neighbours].every(({ id }) => ids.has(id));
        },
        30_000,
      );
      expect((await bus.dead('alpha')).map(({ id }) => id)).toEqual([poison.id]);
      // one delivery, and five more
      expect(deaths).toBe(6);
    } finally {
      ending = true;
      for (const child of victims) child.kill('SIGKILL');
    }
  },
  120_000,
);
