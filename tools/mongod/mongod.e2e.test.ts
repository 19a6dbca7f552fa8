/** Tests of a local mongod with real processes: none outlives its owner, and no acknowledged write is lost. */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import { until } from '#libs/testing';
import { findBinary } from './binary.ts';
import { databaseFolder, logFile } from './data-dir.ts';
import { startMongod } from './mongod.ts';
import { isAlive, type ProcessMark, readProcessMark } from './process-mark.ts';

let dataDir: string;
const say = () => {};

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'pds-test-'));
});

afterEach(async () => {
  await rm(dataDir, { recursive: true, force: true });
});

test('a mongod is stopped and releases its folder when its owner is killed', async () => {
  const owner = await startOwner();
  const mongod = await findMongod();
  process.kill(owner.pid, 'SIGKILL');
  const next = await startMongod({ dataDir, say });
  expect(await isAlive(mongod)).toBe(false);
  await next.stop();
});

test('an acknowledged write survives a SIGKILL of all three processes', async () => {
  const owner = await startOwner();
  await withThings(owner.uri, (things) =>
    things.insertOne({ word: 'stored' }, { writeConcern: { w: 'majority' } }),
  );
  const mongod = await findMongod();
  for (const pid of [owner.pid, getParent(mongod.pid), mongod.pid]) process.kill(pid, 'SIGKILL');
  const next = await startMongod({ dataDir, say });
  expect(new URL(next.uri).port).not.toBe(new URL(owner.uri).port);
  expect(await withThings(next.uri, (things) => things.countDocuments({ word: 'stored' }))).toBe(1);
  await next.stop();
});

test('a mongod is stopped when its owner and its supervisor are killed', async () => {
  const owner = await startOwner();
  const mongod = await findMongod();
  for (const pid of [getParent(mongod.pid), owner.pid]) process.kill(pid, 'SIGKILL');
  await until('the end of the mongod', async () => !(await isAlive(mongod)));
  const next = await startMongod({ dataDir, say });
  await next.stop();
});

test('a mongod whose supervisor is killed is stopped', async () => {
  const server = await startMongod({ dataDir, say });
  const mongod = await findMongod();
  process.kill(getParent(mongod.pid), 'SIGKILL');
  await until('the end of the mongod', async () => !(await isAlive(mongod)));
  await server.stop();
});

test('a mongod listens on loopback only', async () => {
  const server = await startMongod({ dataDir, say });
  const client = new mongoose.mongo.MongoClient(server.uri);
  const { parsed } = await client.db('admin').command({ getCmdLineOpts: 1 });
  await client.close();
  expect(parsed.net).toEqual({
    bindIp: '127.0.0.1',
    port: server.port,
    unixDomainSocket: { enabled: false },
  });
  await server.stop();
});

test('a second start on a folder in use rejects without affecting the first', async () => {
  const first = await startMongod({ dataDir, say });
  await expect(startMongod({ dataDir, say })).rejects.toMatchObject({
    code: 'data_dir_in_use',
    message: expect.stringContaining(dataDir),
  });
  expect(await withThings(first.uri, (things) => things.countDocuments())).toBe(0);
  await first.stop();
  await first.stop();
});

test('of two concurrent starts one succeeds, the other rejects', async () => {
  const starts = await Promise.allSettled([startMongod({ dataDir, say }), startMongod({ dataDir, say })]);
  const started = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
  const rejected = starts.flatMap((start) => (start.status === 'rejected' ? [start.reason] : []));
  expect(started).toHaveLength(1);
  expect(rejected).toEqual([expect.objectContaining({ code: 'data_dir_in_use' })]);
  for (const server of started) {
    expect(await readFile(logFile(dataDir), 'utf8')).toContain(`"port":${server.port}`);
    await server.stop();
  }
  expect((await readdir(dataDir)).sort()).toEqual(['db', 'mongod.log']);
});

test('the end of a mongod is reported, and temporary data is removed', async () => {
  const server = await startMongod({ say });
  const client = new mongoose.mongo.MongoClient(server.uri);
  const { pid } = await client.db('admin').command({ serverStatus: 1 });
  const { parsed } = await client.db('admin').command({ getCmdLineOpts: 1 });
  await client.close();
  process.kill(Number(pid), 'SIGKILL');
  await server.ended;
  await expect(readdir(join(parsed.storage.dbPath, '..'))).rejects.toMatchObject({ code: 'ENOENT' });
});

test('a failed start with temporary data shows the log, not a removed file', async () => {
  const found = await findBinary(say);
  const broken = { ...found, path: join(dataDir, 'mongod') };
  await writeFile(broken.path, '#!/bin/sh\necho this mongod is broken >&2\nexit 1\n', { mode: 0o755 });
  const starting = startMongod({ say, binary: broken });
  await expect(starting).rejects.toMatchObject({
    code: 'mongod_failed',
    message: expect.stringMatching(/this mongod is broken/),
  });
});

test('a mongod that another program runs on the folder is not stopped', async () => {
  await startMongod({ dataDir, say }).then((server) => server.stop());
  const { path } = await findBinary(say);
  const args = [path, '--dbpath', databaseFolder(dataDir), '--port', '0', '--nounixsocket'];
  const stranger = spawn('sh', ['-c', '"$0" "$@" & read end; kill -9 $!', ...args]);
  await new Promise<void>((up) => {
    createInterface(stranger.stdout).on('line', (line) => line.includes('Waiting for connections') && up());
  });
  const pid = Number(await readFile(join(databaseFolder(dataDir), 'mongod.lock'), 'utf8'));
  await expect(startMongod({ dataDir, say })).rejects.toMatchObject({ code: 'data_dir_in_use' });
  expect(await readProcessMark(pid)).toBeDefined();
  stranger.stdin.end();
  await new Promise((done) => stranger.on('close', done));
});

test('a full disk rejects before any process is started', async () => {
  const start = startMongod({ dataDir, say, neededBytes: Number.MAX_SAFE_INTEGER });
  await expect(start).rejects.toMatchObject({ code: 'disk_full' });
});

test('without a data folder the data is removed when the mongod stops', async () => {
  const server = await startMongod({ say });
  const client = new mongoose.mongo.MongoClient(server.uri);
  const { parsed } = await client.db('admin').command({ getCmdLineOpts: 1 });
  await client.close();
  expect(await readdir(parsed.storage.dbPath)).not.toHaveLength(0);
  await server.stop();
  await expect(readdir(join(parsed.storage.dbPath, '..'))).rejects.toMatchObject({ code: 'ENOENT' });
});

/** Starts another process that owns a mongod on the folder. */
async function startOwner(): Promise<{ pid: number; uri: string }> {
  const source = `
    import { startMongod } from ${JSON.stringify(new URL('./mongod.ts', import.meta.url).href)};
    const { uri } = await startMongod({ dataDir: ${JSON.stringify(dataDir)}, say() {} });
    console.log(uri);
    process.stdin.on('end', () => process.exit()).resume();`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', source], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const uri = await new Promise<string>((up) => createInterface(child.stdout).once('line', up));
  return { pid: child.pid ?? 0, uri };
}

/** Finds the mongod that runs on the folder. */
async function findMongod(): Promise<ProcessMark> {
  const pid = Number(await readFile(join(databaseFolder(dataDir), 'mongod.lock'), 'utf8'));
  const mark = await readProcessMark(pid);
  if (!mark) throw new Error('no mongod runs');
  return mark;
}

/** The parent of a mongod is its supervisor. */
function getParent(pid: number): number {
  return Number(execFileSync('ps', ['-o', 'ppid=', '-p', String(pid)], { encoding: 'utf8' }));
}

type Things = mongoose.mongo.Collection;

async function withThings<T>(uri: string, work: (things: Things) => Promise<T>): Promise<T> {
  const client = new mongoose.mongo.MongoClient(uri);
  try {
    return await work(client.db('test').collection('things'));
  } finally {
    await client.close();
  }
}
