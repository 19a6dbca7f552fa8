/** The threads: bounded in number, time and memory, and whoever is refused can be helped. */
import { readdir, readFile } from 'node:fs/promises';
import { afterEach, expect, test } from '@jest/globals';
import { newId, Secret } from '#libs/contract';
import { attacks } from '../formats/attacks.ts';
import { defaultTemplateFile } from '../formats/default-template.ts';
import { type Limits, type Run, type Threads, TooMuchMemory, threads } from './pool.ts';

const plenty: Limits = { threads: 1, waiting: 8, seconds: 60, memoryMb: 512 };
let pool: Threads;
afterEach(() => pool.close());

// nothing here reads but in vain
const nowhere = new Secret('mongodb://127.0.0.1:1/none');

/** Why work was refused, in order. */
let refusals: string[] = [];
const start = (limits: Limits) => {
  refusals = [];
  return threads(limits, nowhere, { trouble: () => {}, refused: (reason) => refusals.push(reason) });
};

const run: Run = (name, task) => pool.turn((run) => run(name, task));

/** An upload that takes much to examine. */
const heavy = () =>
  new Uint8Array(attacks.find(({ name }) => name.startsWith('130,000 paragraphs'))?.make() ?? []);

test('work comes back from a thread, and its bytes are its own', async () => {
  pool = start(plenty);
  const compilation = await run('compile', await defaultTemplateFile());
  expect(compilation).toMatchObject({
    ok: true,
    template: { placeholders: expect.arrayContaining(['content']), bytes: expect.any(Uint8Array) },
  });
});

test('what is wrong with a file is said, and the thread goes on', async () => {
  pool = start(plenty);
  expect(await run('compile', Buffer.from('no zip'))).toMatchObject({ ok: false });
  expect(await run('builtIn')).toMatchObject({ bytes: expect.any(Uint8Array) });
});

test('who comes when too many wait is told when to come again', async () => {
  pool = start({ ...plenty, waiting: 2 });
  const asked = Array.from({ length: 6 }, () => run('builtIn'));
  const ends = await Promise.allSettled(asked);
  const refused = ends.filter(({ status }) => status === 'rejected');
  expect(refused.length).toBeGreaterThan(0);
  expect(refusals).toEqual(refused.map(() => 'queue_full'));
  for (const end of refused)
    expect(end).toMatchObject({
      reason: { name: 'unavailable', headers: { 'Retry-After': expect.stringMatching(/^\d+$/) } },
    });
  expect(await run('builtIn')).toMatchObject({ bytes: expect.any(Uint8Array) });
});

test('who waits has begun nothing: what waits takes no memory', async () => {
  pool = start(plenty);
  let begun = 0;
  const turn = () =>
    pool.turn((run) => {
      begun += 1;
      return run('builtIn');
    });
  const turns = [turn(), turn(), turn(), turn()];
  expect(begun).toBe(1);
  expect([pool.running(), pool.waiting()]).toEqual([1, 3]);
  await Promise.all(turns);
  expect(begun).toBe(4);
  expect([pool.running(), pool.waiting()]).toEqual([0, 0]);
});

test('the time is that of the waiting, too', async () => {
  pool = start({ ...plenty, seconds: 0.05 });
  const { promise, resolve } = Promise.withResolvers<void>();
  const held = pool.turn(() => promise);
  await expect(run('builtIn')).rejects.toMatchObject({ name: 'unavailable' });
  expect(refusals).toEqual(['too_slow']);
  resolve();
  await held;
});

test('work that takes too long is ended, and the next one is done', async () => {
  pool = start({ ...plenty, seconds: 0.001 });
  await expect(run('builtIn')).rejects.toMatchObject({
    name: 'unavailable',
    message: expect.stringContaining('0.001 s'),
  });
});

test('work that needs more memory than a thread may take is ended alone', async () => {
  pool = start({ ...plenty, memoryMb: 48 });
  await expect(run('compile', heavy())).rejects.toBeInstanceOf(TooMuchMemory);
  expect(await run('builtIn')).toMatchObject({ bytes: expect.any(Uint8Array) });
});

test('a pool that is closed ends what it has in hand', async () => {
  pool = start(plenty);
  const ended = expect(run('compile', heavy())).rejects.toThrow();
  await pool.close();
  await ended;
});

test('a thread that reaches no database says so, and goes on', async () => {
  pool = start(plenty);
  const facts = { title: 'A', version: null, department: null, published_at: null, organization: 'Acme' };
  const moment = { id: newId(), organizationId: newId(), rowVersion: 1 };
  expect(await run('markdown', { facts, moment, maxBytes: 1_000 })).toEqual({ because: 'unavailable' });
  expect(await run('builtIn')).toMatchObject({ bytes: expect.any(Uint8Array) });
});

test('other work goes on while a file is made', async () => {
  pool = start(plenty);
  const file = run('compile', heavy());
  let isDone = false;
  void file.then(() => {
    isDone = true;
  });
  let turns = 0;
  while (!isDone) {
    turns += 1;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  expect(turns).toBeGreaterThan(20);
  expect(await file).toMatchObject({ ok: true });
});

const onLinux = process.platform === 'linux' ? test : test.skip;
onLinux('a thread that works leaves the processor to those who wait for an answer', async () => {
  pool = start(plenty);
  await run('builtIn');
  const tasks = await readdir('/proc/self/task');
  const stats = await Promise.all(tasks.map((task) => readFile(`/proc/self/task/${task}/stat`, 'utf8')));
  // the 19th field, seen from the end of the name (proc(5))
  const nice = stats.map((stat) => Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]));
  expect([Math.min(...nice), Math.max(...nice)]).toEqual([0, 19]);
});
