/** The instance file names the ports of a running instance, and is ignored when its process has ended. */
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { readInstanceFile, writeInstanceFile } from './instance-file.ts';

let folder: string;
const ports = { port: 8090, managementPort: 9490 };
const file = () => join(folder, 'instance.json');

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pds-instance-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('the instance file names the ports until it is removed', async () => {
  const remove = await writeInstanceFile(folder, ports);
  expect(await readInstanceFile(folder)).toEqual({
    state: 'running',
    instance: expect.objectContaining({ pid: process.pid, port: 8090, management_port: 9490 }),
  });
  expect((await stat(file())).mode & 0o077).toBe(0);
  await remove();
  await remove();
  expect(await readInstanceFile(folder)).toEqual({ state: 'none' });
});

test('an instance has ended if its pid belongs to another process', async () => {
  await writeInstanceFile(folder, ports);
  const content = JSON.parse(await readFile(file(), 'utf8'));
  await writeFile(file(), JSON.stringify({ ...content, started: 'at another time' }));
  expect(await readInstanceFile(folder)).toMatchObject({ state: 'ended', instance: { pid: process.pid } });
});

test('a truncated or invalid instance file counts as none', async () => {
  for (const text of ['', '{"pid": 1', '{"pid": "1"}', '[]']) {
    await writeFile(file(), text);
    expect(await readInstanceFile(folder)).toEqual({ state: 'none' });
  }
});
