/** Tests the start of a worker process, and what it leaves in memory. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { retainedBufferBytes } from '#libs/testing';
import { startWorker, WorkerCrashed } from './worker.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pds-worker-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** A program whose tasks return what the process could read when it began to load. */
const program = `
import { readFileSync } from 'node:fs';
const file = '/proc/self/oom_score_adj';
const result = process.platform === 'linux' ? readFileSync(file, 'utf8').trim() : '1000';
process.on('message', () => process.send({ result }));
`;

const { signal } = new AbortController();
const request = { context: null, name: 'read', input: null };

async function startProgram(name: string, text: string, maxRestMs?: number) {
  const file = join(folder, `${name}.mjs`);
  await writeFile(file, text);
  return startWorker({ program: pathToFileURL(file), memoryMb: 64, idleMs: 60_000, maxRestMs });
}

test('a worker inherits the configuration of the runtime, but no tokens', async () => {
  const secrets = { NODE_AUTH_TOKEN: 'secret', LD_SDK_KEY: 'secret', MONGODB_URI: 'mongodb://secret' };
  const variables = { ...secrets, NODE_ICU_DATA: '' };
  Object.assign(process.env, variables);
  const worker = await startProgram(
    'variables',
    "process.on('message', () => process.send({ result: Object.keys(process.env) }));",
  );
  try {
    const { result } = await worker.run(request, signal);
    const inherited = Object.keys(variables).filter((name) => (result as string[]).includes(name));
    expect(inherited).toEqual(['NODE_ICU_DATA']);
  } finally {
    for (const name of Object.keys(variables)) delete process.env[name];
    await worker.kill();
  }
});

test('Linux ends a worker first from its start on, if memory is used up', async () => {
  const worker = await startProgram('program', program);
  try {
    expect(await worker.run(request, signal)).toMatchObject({ result: '1000' });
  } finally {
    await worker.kill();
  }
});

test('the results of earlier tasks are not kept while the worker runs', async () => {
  const worker = await startProgram(
    'large-results',
    "process.on('message', () => process.send({ result: new Uint8Array(1_000_000) }));",
  );
  try {
    const run = () => worker.run(request, signal);
    await run();
    const before = retainedBufferBytes();
    for (let task = 0; task < 50; task += 1) await run();
    expect(retainedBufferBytes() - before).toBeLessThan(10_000_000);
  } finally {
    await worker.kill();
  }
});

test('a worker rests after a task for as long as the task took', async () => {
  const worker = await startProgram(
    'computes',
    `const now = () => performance.timeOrigin + performance.now();
    process.on('message', () => {
      const startedAt = now();
      while (now() < startedAt + 60);
      process.send({ result: { startedAt, endedAt: now() } });
    });`,
    100,
  );
  try {
    const run = async () =>
      (await worker.run(request, signal)).result as { startedAt: number; endedAt: number };
    const first = await run();
    const second = await run();
    // clocks and timers round
    expect(second.startedAt - first.endedAt).toBeGreaterThan(55);
  } finally {
    await worker.kill();
  }
});

test('a task of a worker that has exited fails', async () => {
  const worker = await startProgram('exits', 'process.exit(3);');
  await expect(worker.run(request, signal)).rejects.toThrow(WorkerCrashed);
  await expect(worker.run(request, signal)).rejects.toThrow('exited with 3');
});
