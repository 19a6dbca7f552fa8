/**
 * Tests of the embedded MongoDB with real processes: none outlives its owner, and no acknowledged write is
 * lost.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import { findTestProgram, until } from '#libs/testing';
import { findBinary } from './binary.ts';
import { databaseFolder, ownerFile, prepareDataDir } from './data-dir.ts';
import { startMongod } from './mongod.ts';
import { getCommandLine, type ProcessMark, readProcessMark, waitUntilEnded } from './process-mark.ts';

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
  expect(await waitUntilEnded(mongod, 5_000)).toBe(true);
  const next = await startMongod({ dataDir, say });
  await next.stop();
});

test('an acknowledged write survives a SIGKILL of all three processes', async () => {
  const owner = await startOwner();
  await withThings(owner.uri, (things) =>
    things.insertOne({ word: 'stored' }, { writeConcern: { w: 'majority' } }),
  );
  const mongod = await findMongod();
  const supervisor = await readSupervisor(mongod.pid);
  for (const pid of [owner.pid, supervisor.pid, mongod.pid]) process.kill(pid, 'SIGKILL');
  const next = await startMongod({ dataDir, say });
  expect(await withThings(next.uri, (things) => things.countDocuments({ word: 'stored' }))).toBe(1);
  await next.stop();
});

test('the next start stops a mongod whose owner and supervisor were killed', async () => {
  const owner = await startOwner();
  const mongod = await findMongod();
  const supervisor = await readSupervisor(mongod.pid);
  process.kill(supervisor.pid, 'SIGKILL');
  process.kill(owner.pid, 'SIGKILL');
  await waitUntilEnded(supervisor, 2_000);
  expect(await waitUntilEnded(mongod, 100)).toBe(false);
  const lines: string[] = [];
  const next = await startMongod({ dataDir, say: (line) => lines.push(line) });
  expect(lines).toEqual([expect.stringContaining(`pid ${mongod.pid}`)]);
  expect(await waitUntilEnded(mongod, 0)).toBe(true);
  await next.stop();
});

test('a mongod whose supervisor was killed keeps running and can be stopped', async () => {
  const server = await startMongod({ dataDir, say });
  const mongod = await findMongod();
  const supervisor = await readSupervisor(mongod.pid);
  process.kill(supervisor.pid, 'SIGKILL');
  await waitUntilEnded(supervisor, 2_000);
  expect(await withThings(server.uri, (things) => things.countDocuments())).toBe(0);
  await server.stop();
  expect(await waitUntilEnded(mongod, 0)).toBe(true);
});

test('a start waits for a mongod whose main thread has already ended', async () => {
  const program = await findTestProgram('python3', {
    from: 'python3',
    purpose: 'A process that ends thread by thread',
  });
  // only /proc shows that a process is ending
  if (program === undefined || process.platform !== 'linux') return;
  const source = `import ctypes, threading, time
threading.Thread(target=time.sleep, args=(60,)).start()
print('up', flush=True)
ctypes.CDLL(None).pthread_exit(None)`;
  const ending = spawn(program, ['-c', source], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = new Promise<NodeJS.Signals | null>((done) => ending.on('exit', (_code, name) => done(name)));
  await new Promise<void>((up) => createInterface(ending.stdout).once('line', () => up()));
  const pid = ending.pid ?? 0;
  await until('the main thread has ended', async () => (await getCommandLine(pid)) === undefined);
  const mongod = await readProcessMark(pid);
  expect(mongod).toBeDefined();
  const dead = { pid: 1, started: 'never' };
  await writeFile(ownerFile(dataDir, pid), JSON.stringify({ main: dead, supervisor: dead, mongod }));
  await prepareDataDir(dataDir, say);
  expect(await exited).toBe('SIGTERM');
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
  for (const server of started) await server.stop();
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

async function findMongod(): Promise<ProcessMark> {
  const name = (await readdir(dataDir)).find((file) => file.startsWith('owner-')) ?? '';
  const mark = await readProcessMark(Number.parseInt(name.slice('owner-'.length), 10));
  if (!mark) throw new Error('no mongod runs');
  expect(await getCommandLine(mark.pid)).toContain(dataDir);
  return mark;
}

async function readSupervisor(mongod: number): Promise<ProcessMark> {
  const owner = JSON.parse(await readFile(join(dataDir, `owner-${mongod}.json`), 'utf8'));
  return owner.supervisor;
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
