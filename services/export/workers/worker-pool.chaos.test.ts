/** Tests the worker pool: its limits on queue, time and memory, and the life cycle of its processes. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { getPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, expect, test } from '@jest/globals';
import { newId, Secret } from '#libs/contract';
import { testMongo, until } from '#libs/testing';
import { type WorkerLimits, WorkerOutOfMemory } from '#libs/workers';
import { attacks } from '../../../tests/word/attacks.ts';
import { createDefaultTemplateFile } from '../formats/default-template.ts';
import { createExportWorkers, type ExportWorkers } from './export-workers.ts';

const generousLimits: WorkerLimits = { workers: 1, maxQueue: 8, timeoutSeconds: 3_600, memoryMb: 512 };
let pool: ExportWorkers;
let smallFile: Uint8Array;
beforeAll(async () => {
  smallFile = await createDefaultTemplateFile();
});
afterEach(() => pool?.close());

// no MongoDB listens here
const unreachable = new Secret('mongodb://127.0.0.1:1/none');

/** The reasons of rejected tasks, and the errors of workers, in order. */
let rejections: string[] = [];
let errors: unknown[] = [];
const start = (limits: WorkerLimits) => {
  [rejections, errors] = [[], []];
  return createExportWorkers(limits, unreachable, {
    onError: (error) => errors.push(error),
    onRejected: (reason) => rejections.push(reason),
  });
};

const check = async (file: Uint8Array) => (await pool.run('checkTemplate', file)).result;

/** An upload that takes much time and memory to check. */
const createHeavyFile = () =>
  new Uint8Array(attacks.find(({ name }) => name.startsWith('130,000 paragraphs'))?.create() ?? []);

test('a worker returns the result of a task and how long it ran', async () => {
  pool = start(generousLimits);
  const { result, seconds } = await pool.run('checkTemplate', smallFile);
  expect(result).toMatchObject({ ok: true, report: { placeholders: expect.arrayContaining(['content']) } });
  expect(seconds).toBeGreaterThan(0);
});

test('a worker reports an invalid file and then runs the next task', async () => {
  pool = start(generousLimits);
  expect(await check(Buffer.from('no zip'))).toMatchObject({ ok: false });
  expect(await check(smallFile)).toMatchObject({ ok: true });
});

test('the worker pool rejects with Retry-After when its queue is full', async () => {
  pool = start({ ...generousLimits, maxQueue: 2 });
  const results = await Promise.allSettled(Array.from({ length: 6 }, () => check(smallFile)));
  const rejected = results.filter(({ status }) => status === 'rejected');
  expect(rejected).toHaveLength(3);
  expect(rejections).toEqual(rejected.map(() => 'queue_full'));
  for (const result of rejected)
    expect(result).toMatchObject({
      reason: { name: 'unavailable', headers: { 'Retry-After': expect.stringMatching(/^\d+$/) } },
    });
  expect(await check(smallFile)).toMatchObject({ ok: true });
});

test('a task waits in the queue until it has a worker', async () => {
  pool = start(generousLimits);
  const tasks = [check(smallFile), check(smallFile), check(smallFile), check(smallFile)];
  expect([pool.running(), pool.queued()]).toEqual([1, 3]);
  await tasks[0];
  expect(pool.running()).toBe(1);
  await Promise.all(tasks);
  expect([pool.running(), pool.queued()]).toEqual([0, 0]);
});

test('the time limit of the worker pool includes time in the queue', async () => {
  pool = start({ ...generousLimits, timeoutSeconds: 0.05 });
  const results = await Promise.allSettled([check(createHeavyFile()), check(smallFile)]);
  for (const result of results) expect(result).toMatchObject({ reason: { name: 'unavailable' } });
  expect(rejections).toEqual(['timeout', 'timeout']);
});

test('a task that exceeds the time limit is rejected with the limit', async () => {
  pool = start({ ...generousLimits, timeoutSeconds: 0.001 });
  await expect(check(smallFile)).rejects.toMatchObject({
    name: 'unavailable',
    message: expect.stringContaining('0.001 s'),
    headers: { 'Retry-After': '30' },
  });
});

test('a task that exceeds the memory limit fails, the next one succeeds', async () => {
  // this flag must not replace the limit
  process.env.NODE_OPTIONS = '--max-old-space-size-percentage=50';
  pool = start({ ...generousLimits, memoryMb: 48 });
  await expect(check(createHeavyFile())).rejects.toBeInstanceOf(WorkerOutOfMemory);
  expect([rejections, errors]).toEqual([[], []]);
  expect(await check(smallFile)).toMatchObject({ ok: true });
});

test('closing the worker pool rejects running and queued tasks', async () => {
  pool = start(generousLimits);
  const results = Promise.allSettled([check(createHeavyFile()), check(smallFile)]);
  await pool.close();
  for (const result of await results) expect(result).toMatchObject({ status: 'rejected' });
  expect([rejections, errors]).toEqual([[], []]);
});

test('a worker without a database returns unavailable and keeps running', async () => {
  pool = start(generousLimits);
  const snapshot = { id: newId(), organizationId: newId(), rowVersion: 1, organizationRowVersion: 1 };
  const job = { snapshot, target: { flavor: 'plain' as const }, maxBytes: 1_000 };
  expect((await pool.run('renderFile', job)).result).toEqual({ reason: 'unavailable' });
  expect(await check(smallFile)).toMatchObject({ ok: true });
});

test('the main thread stays responsive while a worker is busy', async () => {
  pool = start(generousLimits);
  const file = check(createHeavyFile());
  let isDone = false;
  void file.then(() => {
    isDone = true;
  });
  let ticks = 0;
  while (!isDone) {
    ticks += 1;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  // a blocked thread counts one or two
  expect(ticks).toBeGreaterThan(20);
  expect(await file).toMatchObject({ ok: true });
});

/** A program that waits while its worker has connections. */
const poolProgram = fileURLToPath(new URL('../testing/pool-program.ts', import.meta.url));

// these tests read /proc
const onLinux = process.platform === 'linux' ? test : test.skip;

onLinux('every thread of a worker process has the nice value 10', async () => {
  // the tests may run with another priority than 0
  const own = getPriority();
  pool = start(generousLimits);
  await check(smallFile);
  const [worker] = await findWorkerProcesses();
  expect(new Set(await readPriorities(worker?.pid))).toEqual(new Set([10]));
  expect(new Set(await readPriorities(process.pid))).toEqual(new Set([own]));
});

onLinux('a worker process receives no secret in its environment or arguments', async () => {
  process.env.A_SECRET_FOR_TESTS = 'hush';
  pool = start(generousLimits);
  await check(smallFile).finally(() => delete process.env.A_SECRET_FOR_TESTS);
  const [worker] = await findWorkerProcesses();
  const environment = await readFile(`/proc/${worker?.pid}/environ`, 'latin1');
  expect(environment).toContain('PATH=');
  expect(environment).not.toMatch(/hush|mongodb/);
  expect(await readFile(`/proc/${worker?.pid}/cmdline`, 'latin1')).not.toContain('mongodb:');
});

onLinux('a killed worker is a 503 for its own task only', async () => {
  pool = start({ ...generousLimits, workers: 2 });
  const tasks = [check(createHeavyFile()), check(createHeavyFile())];
  const results = Promise.allSettled(tasks);
  const [worker] = await until('two workers', async () => {
    const found = await findWorkerProcesses();
    return found.length === 2 && found;
  });
  process.kill(worker?.pid ?? 0, 'SIGKILL');
  const [rejected, fulfilled] = (await results).toSorted((a, b) => (a.status > b.status ? -1 : 1));
  expect(fulfilled).toMatchObject({ value: { ok: true } });
  expect(rejected).toMatchObject({ reason: { name: 'unavailable', headers: { 'Retry-After': '5' } } });
  expect(rejections).toEqual(['crashed']);
  expect(errors).toMatchObject([{ message: expect.stringContaining('SIGKILL') }]);
  expect(await Promise.all([check(smallFile), check(smallFile)])).toMatchObject([{ ok: true }, { ok: true }]);
});

onLinux('a worker that is killed while idle is reported and replaced', async () => {
  pool = start(generousLimits);
  await check(smallFile);
  const [worker] = await findWorkerProcesses();
  process.kill(worker?.pid ?? 0, 'SIGKILL');
  await until('the error', async () => errors.length > 0);
  expect(await check(smallFile)).toMatchObject({ ok: true });
  expect([rejections, errors]).toMatchObject([[], [{ message: expect.stringContaining('SIGKILL') }]]);
});

test('a task is rejected when the worker process cannot start', async () => {
  const withoutNode = 'data:text/javascript,process.execPath="/nowhere/node"';
  const child = spawn(process.execPath, ['--import', withoutNode, poolProgram], {
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  const output: Buffer[] = [];
  child.stderr.on('data', (part: Buffer) => output.push(part));
  expect(await once(child, 'close')).toEqual([1, null]);
  expect(String(Buffer.concat(output))).toMatch(/crashed.*Processing the file was interrupted/s);
});

onLinux('a task that exceeds the time limit ends its worker process', async () => {
  pool = start({ ...generousLimits, timeoutSeconds: 0.5 });
  await expect(check(createHeavyFile())).rejects.toMatchObject({ name: 'unavailable' });
  expect(await findWorkerProcesses()).toEqual([]);
  expect([rejections, errors]).toEqual([['timeout'], []]);
});

onLinux('a worker process ignores termination signals', async () => {
  pool = start(generousLimits);
  await check(smallFile);
  const [worker] = await findWorkerProcesses();
  const file = check(createHeavyFile());
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(worker?.pid ?? 0, signal);
  expect(await file).toMatchObject({ ok: true });
});

onLinux('a worker process exits when idle and starts again for the next task', async () => {
  pool = start({ ...generousLimits, idleMs: 50 });
  const file = check(createHeavyFile());
  await until('a worker process', async () => (await findWorkerProcesses()).length === 1);
  await file;
  await until('the worker process has exited', async () => (await findWorkerProcesses()).length === 0);
  expect(await check(smallFile)).toMatchObject({ ok: true });
  expect(errors).toEqual([]);
});

onLinux('closing the worker pool ends its processes', async () => {
  pool = start(generousLimits);
  await check(smallFile);
  await pool.close();
  expect(await findWorkerProcesses()).toEqual([]);
});

onLinux('an idle worker with connections exits when its parent is killed', async () => {
  const mongo = await testMongo();
  try {
    const child = spawn(process.execPath, [poolProgram, mongo.uri], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    const [orphan] = await findWorkerProcesses(child.pid);
    expect(orphan).toBeDefined();
    child.kill('SIGKILL');
    await until('the worker process has exited', async () => {
      return (await findWorkerProcesses(child.pid, orphan?.pid)).length === 0;
    });
  } finally {
    await mongo.stop();
  }
});

interface WorkerProcess {
  pid: number;
  parent: number;
}

/** Finds the worker processes of a parent process, and the one with the pid `orphan`. */
async function findWorkerProcesses(parent = process.pid, orphan?: number): Promise<WorkerProcess[]> {
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0);
  const processes = await Promise.all(pids.map(readWorkerProcess));
  return processes.flatMap((found) =>
    found && (found.parent === parent || found.pid === orphan) ? [found] : [],
  );
}

async function readWorkerProcess(pid: number): Promise<WorkerProcess | undefined> {
  // the process may exit during the read
  const [title, stat] = await Promise.all([
    readFile(`/proc/${pid}/cmdline`, 'utf8'),
    readFile(`/proc/${pid}/stat`, 'utf8'),
  ]).catch(() => ['', '']);
  return title?.startsWith('pds-export-worker')
    ? { pid, parent: Number(splitStat(stat ?? '')[1]) }
    : undefined;
}

async function readPriorities(pid = 0): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`);
  const stats = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/stat`, 'utf8')),
  );
  return stats.map((stat) => Number(splitStat(stat)[16]));
}

/** Splits the fields after the process name, which may contain any character (proc(5)). */
function splitStat(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}
