/** Tests the start of a worker process. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startWorker } from './worker.ts';

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

test('Linux ends a worker first from its start on, if memory is used up', async () => {
  const file = join(folder, 'program.mjs');
  await writeFile(file, program);
  const worker = startWorker({ program: pathToFileURL(file), memoryMb: 64, idleMs: 60_000 });
  try {
    const score = await worker.run(
      { context: null, name: 'read', input: null },
      new AbortController().signal,
    );
    expect(score).toBe('1000');
  } finally {
    await worker.kill();
  }
});
