/** Tests the worker pool: its limits on queue, time and memory, and the life cycle of its child process. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from '@jest/globals';
import { newId, Secret } from '#libs/contract';
import { until } from '#libs/testing';
import { attacks } from '../../../tests/word/attacks.ts';
import { createDefaultTemplateFile } from '../formats/default-template.ts';
import { createChildProcessPool } from './child-process-pool.ts';
import {
  createWorkerPool,
  type RunTask,
  type WorkerLimits,
  WorkerOutOfMemory,
  type WorkerPool,
} from './worker-pool.ts';

const generousLimits: WorkerLimits = { workers: 1, maxQueue: 8, timeoutSeconds: 3_600, memoryMb: 512 };
let pool: WorkerPool;
afterEach(() => pool.close());

// no MongoDB listens here
const unreachable = new Secret('mongodb://127.0.0.1:1/none');

/** The reasons of rejected uses, and the errors of workers and processes, in order. */
let rejections: string[] = [];
let errors: unknown[] = [];
const start = (limits: WorkerLimits) => {
  [rejections, errors] = [[], []];
  return createWorkerPool(limits, unreachable, {
    onError: (error) => errors.push(error),
    onRejected: (reason) => rejections.push(reason),
  });
};

const run: RunTask = (name, task) => pool.use((run) => run(name, task));

/** An upload that takes much time and memory to compile. */
const createHeavyFile = () =>
  new Uint8Array(attacks.find(({ name }) => name.startsWith('130,000 paragraphs'))?.create() ?? []);

test('a worker returns a result that contains bytes', async () => {
  pool = start(generousLimits);
  const compilation = await run('compile', await createDefaultTemplateFile());
  expect(compilation).toMatchObject({
    ok: true,
    template: { placeholders: expect.arrayContaining(['content']), bytes: expect.any(Uint8Array) },
  });
});

test('a worker reports an invalid file and then runs the next task', async () => {
  pool = start(generousLimits);
  expect(await run('compile', Buffer.from('no zip'))).toMatchObject({ ok: false });
  expect(await run('compileBuiltIn')).toMatchObject({ bytes: expect.any(Uint8Array) });
});

test('the worker pool rejects with Retry-After when its queue is full', async () => {
  pool = start({ ...generousLimits, maxQueue: 2 });
  const requests = Array.from({ length: 6 }, () => run('compileBuiltIn'));
  const results = await Promise.allSettled(requests);
  const rejected = results.filter(({ status }) => status === 'rejected');
  expect(rejected.length).toBeGreaterThan(0);
  expect(rejections).toEqual(rejected.map(() => 'queue_full'));
  for (const result of rejected)
    expect(result).toMatchObject({
      reason: { name: 'unavailable', headers: { 'Retry-After': expect.stringMatching(/^\d+$/) } },
    });
  expect(await run('compileBuiltIn')).toMatchObject({ bytes: expect.any(Uint8Array) });
});

test('queued work does not start before it has a worker', async () => {
  pool = start(generousLimits);
  let started = 0;
  const use = () =>
    pool.use((run) => {
      started += 1;
      return run('compileBuiltIn');
    });
  const uses = [use(), use(), use(), use()];
  expect(started).toBe(1);
  expect([pool.running(), pool.queued()]).toEqual([1, 3]);
  await Promise.all(uses);
  expect(started).toBe(4);
  expect([pool.running(), pool.queued()]).toEqual([0, 0]);
});

test('the time limit of the worker pool includes time in the queue', async () => {
  pool = start({ ...generousLimits, timeoutSeconds: 0.05 });
  const { promise, resolve } = Promise.withResolvers<void>();
  const blocking = pool.use(() => promise);
  await expect(run('compileBuiltIn')).rejects.toMatchObject({ name: 'unavailable' });
  expect(rejections).toEqual(['timeout']);
  resolve();
  await blocking;
});

test('a task that exceeds the time limit is rejected with the limit', async () => {
  pool = start({ ...generousLimits, timeoutSeconds: 0.001 });
  await expect(run('compileBuiltIn')).rejects.toMatchObject({
    name: 'unavailable',
    message: expect.stringContaining('0.001 s'),
  });
});

test('a task that exceeds the memory limit fails, the next one succeeds', async () => {
  pool = start({ ...generousLimits, memoryMb: 48 });
  await expect(run('compile', createHeavyFile())).rejects.toBeInstanceOf(WorkerOutOfMemory);
  expect(await run('compileBuiltIn')).toMatchObject({ bytes: expect.any(Uint8Array) });
});

test('closing the worker pool rejects running tasks', async () => {
  pool = start(generousLimits);
  const rejected = expect(run('compile', createHeavyFile())).rejects.toThrow();
  await pool.close();
  await rejected;
});

test('a worker without a database returns unavailable and keeps running', async () => {
  pool = start(generousLimits);
  const properties = {
    title: 'A',
    version: null,
    department: null,
    published_at: null,
    organization: 'Acme',
  };
  const snapshot = { id: newId(), organizationId: newId(), rowVersion: 1 };
  expect(await run('exportMarkdown', { properties, snapshot, maxBytes: 1_000 })).toEqual({
    reason: 'unavailable',
  });
  expect(await run('compileBuiltIn')).toMatchObject({ bytes: expect.any(Uint8Array) });
});

test('the main thread stays responsive while a worker is busy', async () => {
  pool = start(generousLimits);
  const file = run('compile', createHeavyFile());
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

/** A program that runs one task in a worker pool. */
const poolProgram = fileURLToPath(new URL('../testing/pool-program.ts', import.meta.url));

// these tests read /proc
const onLinux = process.platform === 'linux' ? test : test.skip;

onLinux('every thread of the worker process has the nice value 10', async () => {
  pool = start(generousLimits);
  await run('compileBuiltIn');
  const [workerProcess] = await findWorkerProcesses();
  expect(new Set(await readPriorities(workerProcess?.pid))).toEqual(new Set([10]));
  expect(new Set(await readPriorities(process.pid))).toEqual(new Set([0]));
});

onLinux('the worker process receives no secret except the MongoDB address', async () => {
  process.env.A_SECRET_FOR_TESTS = 'hush';
  pool = start(generousLimits);
  await run('compileBuiltIn').finally(() => delete process.env.A_SECRET_FOR_TESTS);
  const [workerProcess] = await findWorkerProcesses();
  const environment = await readFile(`/proc/${workerProcess?.pid}/environ`, 'latin1');
  expect(environment).toContain('PATH=');
  expect(environment).not.toContain('hush');
});

onLinux('a killed worker process is a 503, the next task starts a new one', async () => {
  pool = start(generousLimits);
  await run('compileBuiltIn');
  const [workerProcess] = await findWorkerProcesses();
  const interrupted = run('compile', createHeavyFile());
  process.kill(workerProcess?.pid ?? 0, 'SIGKILL');
  await expect(interrupted).rejects.toMatchObject({ name: 'unavailable', headers: { 'Retry-After': '5' } });
  expect([rejections, errors]).toEqual([['crashed'], [expect.objectContaining({ name: 'WorkerCrashed' })]]);
  expect(await run('compileBuiltIn')).toMatchObject({ bytes: expect.any(Uint8Array) });
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

onLinux('aborting a task terminates its worker thread', async () => {
  pool = start(generousLimits);
  const workerData = { uri: unreachable.reveal() };
  const runner = createChildProcessPool(
    { workers: 1, memoryMb: 512, idleMs: 60_000, workerData },
    () => undefined,
  );
  await runner.run('compileBuiltIn', undefined, new AbortController().signal);
  const [workerProcess] = await findWorkerProcesses();
  const before = await readdir(`/proc/${workerProcess?.pid}/task`);
  const controller = new AbortController();
  const rejected = expect(runner.run('compile', createHeavyFile(), controller.signal)).rejects.toThrow(
    'aborted',
  );
  controller.abort(new Error('aborted'));
  await rejected;
  await until('a thread has exited', async () => {
    const after = new Set(await readdir(`/proc/${workerProcess?.pid}/task`));
    return before.some((thread) => !after.has(thread));
  });
  await runner.close();
});

onLinux('the worker process ignores termination signals', async () => {
  pool = start(generousLimits);
  await run('compileBuiltIn');
  const [workerProcess] = await findWorkerProcesses();
  const file = run('compile', createHeavyFile());
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.kill(workerProcess?.pid ?? 0, signal);
  expect(await file).toMatchObject({ ok: true });
});

onLinux('the worker process exits when idle and starts again for the next task', async () => {
  pool = start({ ...generousLimits, idleMs: 50 });
  const file = run('compile', createHeavyFile());
  await until('a worker process', async () => (await findWorkerProcesses()).length === 1);
  await file;
  await until('the worker process has exited', async () => (await findWorkerProcesses()).length === 0);
  expect(await run('compileBuiltIn')).toMatchObject({ bytes: expect.any(Uint8Array) });
  expect(errors).toEqual([]);
});

onLinux('the worker process exits when its pool closes or its parent is killed', async () => {
  pool = start(generousLimits);
  await run('compileBuiltIn');
  await pool.close();
  expect(await findWorkerProcesses()).toEqual([]);

  const child = spawn(process.execPath, [poolProgram], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  const [orphan] = await findWorkerProcesses(child.pid);
  expect(orphan).toBeDefined();
  child.kill('SIGKILL');
  await until('the worker process has exited', async () => {
    return (await findWorkerProcesses(child.pid, orphan?.pid)).length === 0;
  });
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
  return title?.startsWith('pds-export-files')
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
