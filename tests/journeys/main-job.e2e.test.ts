/** Runs the demo, from registration to a verified webhook, against `npm start`. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { demoSteps, runDemo } from '../demo.ts';
import { type LocalRun, localRun } from '../local-run.ts';

let folder: string;
let run: LocalRun;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pds-demo-'));
  run = await localRun(join(folder, 'data'));
});

afterAll(async () => {
  run?.process.kill('SIGTERM');
  await run?.exited;
  await rm(folder, { recursive: true, force: true });
});

test('npm run demo completes all steps and writes its files', async () => {
  const { code, text } = await runDemo(run.origin, folder);
  expect(text.split('\n').filter((line) => line.startsWith('✓'))).toHaveLength(demoSteps);
  expect(code).toBe(0);
  const out = join(folder, 'demo-out');
  const embed = JSON.parse(await readFile(join(out, 'embed.json'), 'utf8'));
  expect(Object.keys(embed)).toEqual(['id', 'title', 'version', 'department', 'status', 'nodes']);
  expect(await readFile(join(out, 'document.md'), 'utf8')).toMatch(/^# Payment system incident response\n/);
  for (const name of ['corporate.docx', 'default.docx']) {
    expect((await readFile(join(out, name))).subarray(0, 2).toString()).toBe('PK');
  }
  const event = JSON.parse(await readFile(join(out, 'webhook.json'), 'utf8'));
  expect(event).toMatchObject({
    event_type: 'document.published',
    data: { document: { id: embed.id, status: 'published' } },
  });
});

test('npm run demo fails with a clear error if no server responds', async () => {
  const { code, text } = await runDemo('http://127.0.0.1:9', folder);
  expect(code).toBe(1);
  expect(text).toContain('No service is running at http://127.0.0.1:9');
});
