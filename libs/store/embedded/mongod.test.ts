/** The embedded MongoDB with real processes: nothing outlives its owner, and nothing that was written is lost. */
import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import { programFor, until } from '#libs/testing';
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

test('a mongod is stopped, and its folder free again, when its owner is killed', async () => {
  const owner = await otherOwner();
  const mongod = await runningMongod();
  process.kill(owner.pid, 'SIGKILL');
  expect(await waitUntilEnded(mongod, 5_000)).toBe(true);
  const next = await startMongod({ dataDir, say });
  await next.stop();
});

test('what was acknowledged survives a SIGKILL of the owner, the supervisor and mongod at once', async () => {
  const owner = await otherOwner();
  await within(owner.uri, (things) =>
    things.insertOne({ word: 'kept' }, { writeConcern: { w: 'majority' } }),
  );
  const mongod = await runningMongod();
  const supervisor = await supervisorOf(mongod.pid);
  for (const pid of [owner.pid, supervisor.pid, mongod.pid]) process.kill(pid, 'SIGKILL');
  const next = await startMongod({ dataDir, say });
  expect(await within(next.uri, (things) => things.countDocuments({ word: 'kept' }))).toBe(1);
  await next.stop();
});

test('a mongod that lost both its owner and its supervisor is stopped by the next start', async () => {
  const owner = await otherOwner();
  const mongod = await runningMongod();
  const supervisor = await supervisorOf(mongod.pid);
  process.kill(supervisor.pid, 'SIGKILL');
  process.kill(owner.pid, 'SIGKILL');
  await waitUntilEnded(supervisor, 2_000);
  expect(await waitUntilEnded(mongod, 100)).toBe(false);
  const said: string[] = [];
  const next = await startMongod({ dataDir, say: (line) => said.push(line) });
  expect(said).toEqual([expect.stringContaining(`pid ${mongod.pid}`)]);
  expect(await waitUntilEnded(mongod, 0)).toBe(true);
  await next.stop();
});

test('a mongod that lost its supervisor goes on, and still stops when asked', async () => {
  const server = await startMongod({ dataDir, say });
  const mongod = await runningMongod();
  const supervisor = await supervisorOf(mongod.pid);
  process.kill(supervisor.pid, 'SIGKILL');
  await waitUntilEnded(supervisor, 2_000);
  expect(await within(server.uri, (things) => things.countDocuments())).toBe(0);
  await server.stop();
  expect(await waitUntilEnded(mongod, 0)).toBe(true);
});

test('a mongod that is still ending, its first thread and its command line gone, is waited for', async () => {
  const program = await programFor('python3', {
    from: 'python3',
    purpose: 'A process that ends thread by thread',
  });
  // elsewhere nothing says that a process is ending
  if (program === undefined || process.platform !== 'linux') return;
  const source = `import ctypes, threading, time
threading.Thread(target=time.sleep, args=(60,)).start()
print('up', flush=True)
ctypes.CDLL(None).pthread_exit(None)`;
  const ending = spawn(program, ['-c', source], { stdio: ['ignore', 'pipe', 'inherit'] });
  const isGone = new Promise<NodeJS.Signals | null>((done) => ending.on('exit', (_code, name) => done(name)));
  await new Promise<void>((up) => createInterface(ending.stdout).once('line', () => up()));
  const pid = ending.pid ?? 0;
  await until('its first thread to be gone', async () => (await getCommandLine(pid)) === undefined);
  const mongod = await readProcessMark(pid);
  expect(mongod).toBeDefined();
  const dead = { pid: 1, started: 'never' };
  await writeFile(ownerFile(dataDir, pid), JSON.stringify({ main: dead, supervisor: dead, mongod }));
  await prepareDataDir(dataDir, say);
  expect(await isGone).toBe('SIGTERM');
});

test('a second start on a folder in use says so, and leaves the first alone', async () => {
  const first = await startMongod({ dataDir, say });
  await expect(startMongod({ dataDir, say })).rejects.toMatchObject({
    code: 'data_dir_in_use',
    message: expect.stringContaining(dataDir),
  });
  expect(await within(first.uri, (things) => things.countDocuments())).toBe(0);
  await first.stop();
  await first.stop();
});

test('two starts at the same moment: one gets the folder, the other is told', async () => {
  const starts = await Promise.allSettled([startMongod({ dataDir, say }), startMongod({ dataDir, say })]);
  const started = starts.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const refused = starts.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  expect(started).toHaveLength(1);
  expect(refused).toEqual([expect.objectContaining({ code: 'data_dir_in_use' })]);
  for (const server of started) await server.stop();
});

test('a mongod that somebody else runs on the folder is not touched', async () => {
  await startMongod({ dataDir, say }).then((server) => server.stop());
  const { path } = await findBinary(say);
  const words = [path, '--dbpath', databaseFolder(dataDir), '--port', '0', '--nounixsocket'];
  const stranger = spawn('sh', ['-c', '"$0" "$@" & read end; kill -9 $!', ...words]);
  await new Promise<void>((up) => {
    createInterface(stranger.stdout).on('line', (line) => line.includes('Waiting for connections') && up());
  });
  const pid = Number(await readFile(join(databaseFolder(dataDir), 'mongod.lock'), 'utf8'));
  await expect(startMongod({ dataDir, say })).rejects.toMatchObject({ code: 'data_dir_in_use' });
  expect(await readProcessMark(pid)).toBeDefined();
  stranger.stdin.end();
  await new Promise((done) => stranger.on('close', done));
});

test('a full disk is said before anything is started', async () => {
  const start = startMongod({ dataDir, say, neededBytes: Number.MAX_SAFE_INTEGER });
  await expect(start).rejects.toMatchObject({ code: 'disk_full' });
});

test('without a folder the data is temporary and goes with the mongod', async () => {
  const server = await startMongod({ say });
  const client = new mongoose.mongo.MongoClient(server.uri);
  const { parsed } = await client.db('admin').command({ getCmdLineOpts: 1 });
  await client.close();
  expect(await readdir(parsed.storage.dbPath)).not.toHaveLength(0);
  await server.stop();
  await expect(readdir(join(parsed.storage.dbPath, '..'))).rejects.toMatchObject({ code: 'ENOENT' });
});

/** Another process that owns a mongod on the folder. */
async function otherOwner(): Promise<{ pid: number; uri: string }> {
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

async function runningMongod(): Promise<ProcessMark> {
  const name = (await readdir(dataDir)).find((one) => one.startsWith('owner-')) ?? '';
  const mark = await readProcessMark(Number.parseInt(name.slice('owner-'.length), 10));
  if (!mark) throw new Error('no mongod runs');
  expect(await getCommandLine(mark.pid)).toContain(dataDir);
  return mark;
}

async function supervisorOf(mongod: number): Promise<ProcessMark> {
  const owner = JSON.parse(await readFile(join(dataDir, `owner-${mongod}.json`), 'utf8'));
  return owner.supervisor;
}

type Things = mongoose.mongo.Collection;

async function within<T>(uri: string, work: (things: Things) => Promise<T>): Promise<T> {
  const client = new mongoose.mongo.MongoClient(uri);
  try {
    return await work(client.db('test').collection('things'));
  } finally {
    await client.close();
  }
}
