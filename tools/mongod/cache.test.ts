/** Tests the folder of the cache and its locks. */
import { mkdir, mkdtemp, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { until } from '#libs/testing';
import { createCacheFolder, withFileLock } from './cache.ts';

const systemFolder = process.env.TMPDIR;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cache-test-'));
});
afterEach(async () => {
  if (systemFolder === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = systemFolder;
  await rm(folder, { recursive: true, force: true });
});

/** Creates the cache folder where only the system's temporary folder is writable. */
async function createFallback(): Promise<string> {
  const file = join(folder, 'file');
  await writeFile(file, '');
  process.env.TMPDIR = folder;
  return createCacheFolder({ XDG_CACHE_HOME: join(file, 'nowhere') });
}

test('the temporary cache folder is only for its user and used again', async () => {
  const cache = await createFallback();
  expect(cache).toBe(join(folder, 'process-document-service'));
  expect((await stat(cache)).mode & 0o777).toBe(0o700);
  expect(await createFallback()).toBe(cache);
});

test('a cache folder that is a link is not used', async () => {
  await mkdir(join(folder, 'other'));
  await symlink('other', join(folder, 'process-document-service'));
  const cache = await createFallback();
  expect(cache).toMatch(/process-document-service-\w{6}$/);
  expect((await stat(cache)).mode & 0o777).toBe(0o700);
});

test('a cache folder of another user is not used', async () => {
  const own = join(folder, 'process-document-service');
  await mkdir(own);
  // only root could give the folder to another user, so the test gives the process another user
  const { getuid } = process;
  const { uid } = await stat(own);
  process.getuid = () => uid + 1;
  try {
    expect(await createFallback()).toMatch(/process-document-service-\w{6}$/);
  } finally {
    if (getuid) process.getuid = getuid;
  }
});

test('an empty lock is stale after 10 seconds', async () => {
  const lock = join(folder, 'lock');
  await writeFile(lock, '');
  const before = Date.now() / 1_000 - 11;
  await utimes(lock, before, before);
  const failIfWaiting = (line: string) => {
    throw new Error(line);
  };
  expect(await withFileLock(lock, failIfWaiting, async () => 'done')).toBe('done');
});

test('a new empty lock is respected', async () => {
  const lock = join(folder, 'lock');
  await writeFile(lock, '');
  const lines: string[] = [];
  let isDone = false;
  const work = withFileLock(
    lock,
    (line) => lines.push(line),
    async () => {
      isDone = true;
    },
  );
  await until('a second of waiting', async () => lines.length === 1);
  expect(isDone).toBe(false);
  await rm(lock);
  await work;
  expect(isDone).toBe(true);
});
