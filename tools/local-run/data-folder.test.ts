/** Tests that the data folder creates its secrets once and never replaces a file that it cannot read. */
import { mkdir, mkdtemp, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { openDataFolder } from './data-folder.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'data-folder-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('the data folder creates secrets once and reads them again', async () => {
  const { secrets } = await openDataFolder(folder);
  expect((await stat(join(folder, 'secrets.json'))).mode & 0o777).toBe(0o600);
  expect((await openDataFolder(folder)).secrets).toEqual(secrets);
});

test('the data folder does not replace secrets that it cannot read', async () => {
  const file = join(folder, 'secrets.json');
  // fails with ELOOP for every user, also for root
  await symlink('secrets.json', file);
  await expect(openDataFolder(folder)).rejects.toThrow('ELOOP');
  await rm(file);
  await mkdir(file);
  await expect(openDataFolder(folder)).rejects.toThrow('EISDIR');
});
