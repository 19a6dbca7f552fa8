/** The threads: bounded in number, time and memory, and whoever is refused can be helped. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from '@jest/globals';
import { newId, Secret } from '#libs/contract';
import { until } from '#libs/testing';
import { defaultTemplateFile } from '../formats/default-template.ts';
import { attacks } from '../testing/attacks.ts';
import { apart } from './child-process-pool.ts';
import { type Limits, type Run, type Threads, TooMuchMemory, threads } from './worker-pool.ts';

const plenty: Limits = { threads: 1, waiting: 8, seconds: 60, memoryMb: 512 };
let pool: Threads;
afterEach(() => pool.close());

// nothing here reads but in vain
const nowhere = new Secret('mongodb://127.0.0.1:1/none');

/** Why work was refused, and what ended by itself, in order. */
let refusals: string[] = [];
let troubles: unknown[] = [];
const start = (limits: Limits) => {
  [refusals, troubles] = [[], []];
  return threads(limits, nowhere, {
    onError: (error) => troubles.push(error),
    refused: (reason) => refusals.push(reason),
  });
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
  expect(refusals).toEqual(['timeout']);
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

/** A program that makes a file. */
const making = fileURLToPath(new URL('../testing/pool-program.ts', import.meta.url));

// where /proc tells of processes
const onLinux = process.platform === 'linux' ? test : test.skip;

onLinux('all that makes files leaves the processor to those who wait for an answer', async () => {
  pool = start(plenty);
  await run('builtIn');
  const [files] = await makers();
  expect(new Set(await prioritiesOf(files?.pid))).toEqual(new Set([19]));
  expect(new Set(await prioritiesOf(process.pid))).toEqual(new Set([0]));
});

onLinux('what makes files has none of our secrets but the address that it reads from', async () => {
  process.env.A_SECRET_FOR_TESTS = 'hush';
  pool = start(plenty);
  await run('builtIn').finally(() => delete process.env.A_SECRET_FOR_TESTS);
  const [files] = await makers();
  const environment = await readFile(`/proc/${files?.pid}/environ`, 'latin1');
  expect(environment).toContain('PATH=');
  expect(environment).not.toContain('hush');
});

onLinux('who kills what makes files gets a 503 with a time, and the next file is made', async () => {
  pool = start(plenty);
  await run('builtIn');
  const [files] = await makers();
  const cut = run('compile', heavy());
  process.kill(files?.pid ?? 0, 'SIGKILL');
  await expect(cut).rejects.toMatchObject({ name: 'unavailable', headers: { 'Retry-After': '5' } });
  expect([refusals, troubles]).toEqual([['crashed'], [expect.objectContaining({ name: 'CrewLost' })]]);
  expect(await run('builtIn')).toMatchObject({ bytes: expect.any(Uint8Array) });
});

test('where no process can begin, whoever wants a file is told to try again', async () => {
  const nowhere = 'data:text/javascript,process.execPath="/nowhere/node"';
  const there = spawn(process.execPath, ['--import', nowhere, making], {
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  const said: Buffer[] = [];
  there.stderr.on('data', (part: Buffer) => said.push(part));
  expect(await once(there, 'close')).toEqual([1, null]);
  expect(String(Buffer.concat(said))).toMatch(/crashed.*Making the file was interrupted: try again/s);
});

onLinux('work that nobody waits for any more is ended, and its thread with it', async () => {
  pool = start(plenty);
  const given = { uri: nowhere.reveal() };
  const crew = apart({ threads: 1, memoryMb: 512, idleMs: 60_000, given }, () => undefined);
  await crew.run('builtIn', undefined, new AbortController().signal);
  const [files] = await makers();
  const before = await readdir(`/proc/${files?.pid}/task`);
  const nobody = new AbortController();
  const left = expect(crew.run('compile', heavy(), nobody.signal)).rejects.toThrow('nobody waits');
  nobody.abort(new Error('nobody waits'));
  await left;
  await until('a thread less', async () => {
    const after = new Set(await readdir(`/proc/${files?.pid}/task`));
    return before.some((thread) => !after.has(thread));
  });
  await crew.close();
});

onLinux('a signal that is meant for us does not end the files that are waited for', async () => {
  pool = start(plenty);
  await run('builtIn');
  const [files] = await makers();
  const file = run('compile', heavy());
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(files?.pid ?? 0, signal);
  expect(await file).toMatchObject({ ok: true });
});

onLinux('without work for a while there is nothing left, and it begins anew', async () => {
  pool = start({ ...plenty, idleMs: 50 });
  await run('builtIn');
  expect(await makers()).toHaveLength(1);
  await until('it has ended', async () => (await makers()).length === 0);
  expect(await run('builtIn')).toMatchObject({ bytes: expect.any(Uint8Array) });
  expect(troubles).toEqual([]);
});

onLinux('a pool that is closed leaves nothing behind, nor does one whose process is killed', async () => {
  pool = start(plenty);
  await run('builtIn');
  await pool.close();
  expect(await makers()).toEqual([]);

  const there = spawn(process.execPath, [making], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(there.stdout, 'data');
  const [orphan] = await makers(there.pid);
  expect(orphan).toBeDefined();
  there.kill('SIGKILL');
  await until('it has ended, too', async () => (await makers(there.pid, orphan?.pid)).length === 0);
});

interface Running {
  pid: number;
  parent: number;
}

/** The processes that make files for a process, and one that may have lost it. */
async function makers(parent = process.pid, orphan?: number): Promise<Running[]> {
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0);
  const running = await Promise.all(pids.map(makerOf));
  return running.flatMap((one) => (one && (one.parent === parent || one.pid === orphan) ? [one] : []));
}

async function makerOf(pid: number): Promise<Running | undefined> {
  // it may end while it is looked at
  const [title, stat] = await Promise.all([
    readFile(`/proc/${pid}/cmdline`, 'utf8'),
    readFile(`/proc/${pid}/stat`, 'utf8'),
  ]).catch(() => ['', '']);
  return title?.startsWith('pds-export-files') ? { pid, parent: Number(fieldsOf(stat ?? '')[1]) } : undefined;
}

async function prioritiesOf(pid = 0): Promise<number[]> {
  const tasks = await readdir(`/proc/${pid}/task`);
  const stats = await Promise.all(tasks.map((task) => readFile(`/proc/${pid}/task/${task}/stat`, 'utf8')));
  return stats.map((stat) => Number(fieldsOf(stat)[16]));
}

/** The fields from the third on, seen from the end of the name, which may hold anything (proc(5)). */
function fieldsOf(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}
