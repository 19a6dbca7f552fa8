/** Starts a mongod as a one-member replica set on loopback, and stops it when its owner process ends. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type Binary, findBinary } from './binary.ts';
import type { Say } from './cache.ts';
import {
  createTemporaryDataDir,
  databaseFolder,
  diskFullError,
  inUseError,
  logFile,
  prepareDataDir,
} from './data-dir.ts';
import { embeddedError } from './embedded-error.ts';
import { type ProcessMark, readProcessMark, terminate } from './process-mark.ts';
import { becomePrimary, setName, waitUntilListening } from './replica-set.ts';
import type { SupervisorOptions, SupervisorReport } from './supervisor.ts';

export { type Binary, downloadBinary, findLocalBinary } from './binary.ts';
export type { Say } from './cache.ts';
export type { EmbeddedCode, EmbeddedError } from './embedded-error.ts';
export { becomePrimary, setName } from './replica-set.ts';

/** Options of a mongod. */
export type MongodOptions = {
  /** The data folder. By default a temporary folder, which is removed at the end. */
  dataDir?: string;
  say: Say;
  /** The size limit of WiredTiger's cache, in GB (at least 0.25). */
  cacheGB?: number;
  /** The mongod to start. By default it is searched for. */
  binary?: Binary;
  /** The required free disk space, in bytes. */
  neededBytes?: number;
  /** A key file. It enables authentication: the first user is created by the localhost exception. */
  keyFile?: string;
};

/**
 * A running mongod. `origin` describes where it was found; `stop` flushes all data and may be called twice.
 */
export type Mongod = { uri: string; port: number; origin: string; stop(): Promise<void> };

/**
 * Starts a mongod and resolves when it is a writable primary. Throws an `EmbeddedError` with the code
 * `no_mongod`, `data_dir_in_use`, `data_dir_version` (this mongod cannot open data of that version),
 * `disk_full` or `mongod_failed`.
 */
export async function startMongod(options: MongodOptions): Promise<Mongod> {
  const { say, cacheGB = options.dataDir ? 0.5 : 0.25 } = options;
  const { path: binary, origin } = options.binary ?? (await findBinary(say));
  const dataDir = await prepareDataDir(
    options.dataDir ?? (await createTemporaryDataDir()),
    say,
    options.neededBytes,
  );
  for (let tries = 1; ; tries++) {
    const port = await freePort();
    const run = await startSupervised({
      binary,
      args: [
        ...createArgs(dataDir, port, cacheGB),
        ...(options.keyFile ? ['--keyFile', options.keyFile] : []),
      ],
      dataDir,
      removeAtEnd: options.dataDir === undefined,
      main: (await readProcessMark(process.pid)) ?? { pid: process.pid, started: '' },
    });
    const abortController = new AbortController();
    try {
      await Promise.race([
        waitUntilListening(port, abortController.signal).then(() =>
          becomePrimary(`mongodb://127.0.0.1:${port}/`, `127.0.0.1:${port}`, abortController.signal),
        ),
        run.exited.then((code) => Promise.reject(Object.assign(new Error('exited'), { exit: code }))),
      ]);
      return { uri: `mongodb://127.0.0.1:${port}/?replicaSet=${setName}`, port, origin, stop: run.stop };
    } catch (error) {
      abortController.abort();
      const log = await readFile(logFile(dataDir), 'utf8').catch(() => '');
      await run.stop();
      const { exit } = error as { exit?: number | null };
      if (exit === portInUse && tries < 3) continue;
      throw exit === undefined ? error : toError(exit, log, dataDir);
    }
  }
}

/** The exit codes of mongod that are handled (src/mongo/util/exit_code.h). */
const portInUse = 48;
const wrongVersion = 62;
const folderInUse = 100;

function createArgs(dataDir: string, port: number, cacheGB: number): string[] {
  return [
    ...['--dbpath', databaseFolder(dataDir), '--logpath', logFile(dataDir)],
    ...['--port', String(port), '--bind_ip', '127.0.0.1', '--nounixsocket'],
    ...['--replSet', setName, '--oplogSize', '256', '--wiredTigerCacheSizeGB', String(cacheGB)],
    ...['--setParameter', 'diagnosticDataCollectionEnabled=false'],
    // a one-member replica set need not wait for another member before it stops
    ...['--setParameter', 'shutdownTimeoutMillisForSignaledShutdown=0'],
  ];
}

function toError(exit: number | null, log: string, dataDir: string): Error {
  if (exit === folderInUse) return inUseError(dataDir);
  if (/No space left on device/i.test(log)) return diskFullError(dataDir);
  if (exit === wrongVersion) {
    const message = `The data in ${dataDir} was written by a MongoDB version that this mongod cannot open.`;
    return embeddedError('data_dir_version', message);
  }
  const fatal = log.split('\n').findLast((line) => /"s":"[FE]"/.test(line));
  const reason = fatal ? `: ${(JSON.parse(fatal) as { msg: string }).msg}` : '';
  return embeddedError(
    'mongod_failed',
    `mongod ended with ${exit ?? 'a signal'}${reason} (see ${logFile(dataDir)}).`,
  );
}

type Run = { exited: Promise<number | null>; stop(): Promise<void> };

async function startSupervised(options: SupervisorOptions): Promise<Run> {
  const script = fileURLToPath(new URL('./supervisor.ts', import.meta.url));
  // detached, so that Ctrl-C does not reach the supervisor: the services stop first, then the database
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', script, JSON.stringify(options)],
    { detached: true, stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const supervisorExited = new Promise<void>((done) => child.on('exit', done).on('error', done));
  child.stdin.on('error', () => {});
  let mongod: ProcessMark | undefined;
  const exited = new Promise<number | null>((done) => {
    createInterface(child.stdout).on('line', async (line) => {
      const report = JSON.parse(line) as SupervisorReport;
      if ('exit' in report) done(report.exit);
      else mongod = await readProcessMark(report.mongod);
    });
    child.on('exit', (code) => done(code));
  });
  setRef(child, false);
  let stopping: Promise<void> | undefined;
  const stop = async () => {
    setRef(child, true);
    child.stdin.end('stop\n');
    await supervisorExited;
    // the supervisor may have been killed before
    if (mongod) await terminate(mongod, 10_000);
  };
  return { exited, stop: () => (stopping ??= stop()) };
}

/**
 * Sets whether the child keeps this process running, which is needed only while the child is being stopped.
 */
function setRef(child: ChildProcess, on: boolean): void {
  for (const handle of [child, child.stdin, child.stdout] as (NodeJS.RefCounted | null)[]) {
    if (on) handle?.ref();
    else handle?.unref();
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}
