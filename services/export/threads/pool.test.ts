/** The threads: bounded in number, time and memory, and whoever is refused can be helped. */
import { readdir, readFile } from 'node:fs/promises';
import { afterEach, expect, test } from '@jest/globals';
import { serialize } from 'bson';
import { defaultTemplateFile } from '../formats/default-template.ts';
import { type Limits, type Run, type Threads, TooMuchMemory, threads } from './pool.ts';

const facts = { title: 'SOP', version: null, department: null, published_at: null, organization: 'Acme' };
const plenty: Limits = { threads: 1, waiting: 8, seconds: 60, memoryMb: 512 };
let pool: Threads;
afterEach(() => pool.close());

const start = (limits: Limits) => threads(limits, () => {});

const run: Run = (name, task, moved) => pool.turn((run) => run(name, task, moved));

const empty = () => ({ facts, nodes: new Uint8Array() });

test('work comes back from a thread, and its bytes are its own', async () => {
  pool = start(plenty);
  const file = await run('markdown', empty());
  expect(Buffer.from(file).toString()).toBe('# SOP\n');
  const compilation = await run('compile', await defaultTemplateFile());
  expect(compilation).toMatchObject({
    ok: true,
    template: { placeholders: expect.arrayContaining(['content']) },
  });
});

test('what is wrong with a file is said, and the thread goes on', async () => {
  pool = start(plenty);
  expect(await run('compile', Buffer.from('no zip'))).toMatchObject({ ok: false });
  expect(await run('markdown', empty())).toBeInstanceOf(Uint8Array);
});

test('who comes when too many wait is told when to come again', async () => {
  pool = start({ ...plenty, waiting: 2 });
  const asked = Array.from({ length: 6 }, () => run('markdown', empty()));
  const ends = await Promise.allSettled(asked);
  const refused = ends.filter(({ status }) => status === 'rejected');
  expect(refused.length).toBeGreaterThan(0);
  for (const end of refused)
    expect(end).toMatchObject({
      reason: { name: 'unavailable', headers: { 'Retry-After': expect.stringMatching(/^\d+$/) } },
    });
  expect(await run('markdown', empty())).toBeInstanceOf(Uint8Array);
});

test('who waits has begun nothing: what waits takes no memory', async () => {
  pool = start(plenty);
  let begun = 0;
  const turn = () =>
    pool.turn((run) => {
      begun += 1;
      return run('markdown', empty());
    });
  const turns = [turn(), turn(), turn(), turn()];
  // one works, one reads
  expect(begun).toBe(2);
  await Promise.all(turns);
  expect(begun).toBe(4);
});

test('the time is that of the waiting, too', async () => {
  pool = start({ ...plenty, seconds: 0.05 });
  const { promise, resolve } = Promise.withResolvers<void>();
  const held = [pool.turn(() => promise), pool.turn(() => promise)];
  await expect(run('markdown', empty())).rejects.toMatchObject({ name: 'unavailable' });
  resolve();
  await Promise.all(held);
});

test('work that takes too long is ended, and the next one is done', async () => {
  pool = start({ ...plenty, seconds: 0.001 });
  await expect(run('builtIn')).rejects.toMatchObject({
    name: 'unavailable',
    message: expect.stringContaining('0.001 s'),
  });
});

test('work that needs more memory than a thread may take is ended alone', async () => {
  pool = start({ ...plenty, memoryMb: 24 });
  await expect(run('markdown', { facts, nodes: bsonOf(40_000) })).rejects.toBeInstanceOf(TooMuchMemory);
  expect(await run('markdown', empty())).toBeInstanceOf(Uint8Array);
});

test('a pool that is closed ends what it has in hand', async () => {
  pool = start(plenty);
  const ended = expect(run('markdown', { facts, nodes: bsonOf(40_000) })).rejects.toThrow();
  await pool.close();
  await ended;
});

test('other work goes on while a file is made', async () => {
  pool = start(plenty);
  const file = run('markdown', { facts, nodes: bsonOf(20_000) });
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
  expect(Buffer.from(await file).toString()).toContain('### Part 20000');
});

const onLinux = process.platform === 'linux' ? test : test.skip;
onLinux('a thread that works leaves the processor to those who wait for an answer', async () => {
  pool = start(plenty);
  await run('markdown', empty());
  const tasks = await readdir('/proc/self/task');
  const stats = await Promise.all(tasks.map((task) => readFile(`/proc/self/task/${task}/stat`, 'utf8')));
  // the 19th field, seen from the end of the name (proc(5))
  const nice = stats.map((stat) => Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]));
  expect([Math.min(...nice), Math.max(...nice)]).toEqual([0, 10]);
});

/** So many steps as MongoDB sends them. */
function bsonOf(count: number): Uint8Array<ArrayBuffer> {
  const content = JSON.stringify({
    type: 'doc',
    content: [{ type: 'paragraph', content: [{ type: 'text', text: 'Look at the queue.' }] }],
  });
  const rows = Array.from({ length: count }, (_, at) =>
    serialize({
      _id: `${at}`,
      parent_id: null,
      node_type: 'step',
      title: `Part ${at + 1}`,
      content,
      order: at,
    }),
  );
  return Uint8Array.from(Buffer.concat(rows));
}
