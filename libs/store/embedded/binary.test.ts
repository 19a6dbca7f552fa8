/** The chain that finds a mongod: what is broken is replaced, what fails is said, and the next one is tried. */
import { chmod, mkdir, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { fetchBinary, localBinary, type Source } from './binary.ts';

let folder: string;
let env: NodeJS.ProcessEnv;
let said: string[];
const say = (line: string) => void said.push(line);

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pds-test-'));
  env = { PDS_CACHE_DIR: join(folder, 'cache'), PATH: join(folder, 'bin') };
  said = [];
});

afterEach(() => rm(folder, { recursive: true, force: true }));

test('a mongod that was fetched is kept and found again', async () => {
  const first = await fetchBinary(say, [works()], env);
  expect(first.origin).toBe('mongod 7.0.24 from the fake');
  expect(await fetchBinary(say, [neverAsked()], env)).toEqual({
    path: first.path,
    how: 'mongod 7.0.24 from the cache',
  });
});

test('a truncated or changed file in the cache is noticed and replaced', async () => {
  const { path } = await fetchBinary(say, [works()], env);
  const whole = await readFile(path, 'utf8');
  for (const damage of [
    () => truncate(path, 10),
    () => writeFile(path, `${whole}#`),
    () => rm(`${path}.sha256`),
  ]) {
    await damage();
    said = [];
    await fetchBinary(say, [works()], env);
    expect(said[0]).toContain('damaged');
    expect(await readFile(path, 'utf8')).toBe(whole);
  }
});

test('two that fetch at the same moment fetch once', async () => {
  let fetched = 0;
  const slow: Source = {
    ...works(),
    fetch: async (target) => {
      fetched += 1;
      await writeMongod(target, '7.0.24');
    },
  };
  const found = await Promise.all([1, 2, 3].map(() => fetchBinary(say, [slow], env)));
  expect(new Set(found.map(({ path }) => path)).size).toBe(1);
  expect(fetched).toBe(1);
});

test('the lock of a dead process does not count', async () => {
  const cache = join(folder, 'cache', 'mongod');
  await mkdir(cache, { recursive: true });
  await writeFile(join(cache, '.fetching'), JSON.stringify({ pid: process.pid, started: 'long ago' }));
  await expect(fetchBinary(say, [works()], env)).resolves.toMatchObject({
    how: 'mongod 7.0.24 from the fake',
  });
});

test('when one way fails, that is said and the next is tried', async () => {
  await fetchBinary(say, [fails('the archive', 'nobody answered'), works()], env);
  expect(said).toContain('The archive of MongoDB cannot be had: nobody answered; trying the fake.');
});

test('what is fetched but does not run here is not kept', async () => {
  const broken: Source = {
    name: 'the broken one',
    entry: '6',
    fetch: (target) => writeFile(target, 'not a program'),
  };
  await expect(fetchBinary(say, [broken], env)).rejects.toMatchObject({ code: 'no_mongod' });
  expect(await localBinary(say, env)).toBeUndefined();
});

test('when nothing works, every reason is given and what to do', async () => {
  const all = [fails('the archive', 'nobody answered'), fails('the package', 'it needs Python 3 with pip')];
  const error = await fetchBinary(say, all, env).catch((reason) => reason);
  expect(error.code).toBe('no_mongod');
  for (const part of ['nobody answered', 'Python 3 with pip', 'MONGOD_BINARY', 'MONGODB_URI']) {
    expect(error.message).toContain(part);
  }
});

test('a mongod on the PATH is taken if it is new enough', async () => {
  await mkdir(join(folder, 'bin'));
  const path = join(folder, 'bin', 'mongod');
  await writeMongod(path, '4.4.29');
  expect(await localBinary(say, env)).toBeUndefined();
  expect(said).toEqual(['The mongod on the PATH is 4.4.29, 5 or newer is needed: going on.']);
  await writeMongod(path, '8.0.4');
  expect(await localBinary(say, env)).toEqual({ path, how: 'mongod 8.0.4 from the PATH' });
});

test('MONGOD_BINARY is taken at its word: a wrong one is an error, not a reason to go on', async () => {
  const path = join(folder, 'mine');
  await expect(localBinary(say, { ...env, MONGOD_BINARY: path })).rejects.toMatchObject({
    code: 'no_mongod',
  });
  await writeMongod(path, '6.0.5');
  await expect(localBinary(say, { ...env, MONGOD_BINARY: path })).resolves.toMatchObject({ path });
});

function works(): Source {
  return { name: 'the fake', entry: '7.0.24', fetch: (target) => writeMongod(target, '7.0.24') };
}

function neverAsked(): Source {
  return { name: 'the other', entry: '7.0.24', fetch: () => Promise.reject(new Error('asked')) };
}

function fails(name: string, reason: string): Source {
  return { name, entry: name, fetch: () => Promise.reject(new Error(reason)) };
}

async function writeMongod(path: string, version: string): Promise<void> {
  await writeFile(path, `#!/bin/sh\necho "db version v${version}"\n`);
  await chmod(path, 0o755);
}
