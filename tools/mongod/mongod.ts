/** Starts a mongod as a one-member replica set on loopback, and stops it when its owner process ends. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Binary, findBinary } from './binary.ts';
import type { Say } from './cache.ts';
import {
  createTemporaryDataDir,
  databaseFolder,
  explainFailure,
  openLog,
  prepareDataDir,
  type StartLog,
} from './data-dir.ts';
import { setName } from './replica-set.ts';
import type { SupervisorOptions } from './supervisor.ts';

/** Options of a mongod. */
export interface MongodOptions {
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
}

/**
 * A running mongod. `origin` describes where it was found; `stop` flushes all data and may be called twice.
 */
export interface Mongod {
  uri: string;
  port: number;
  origin: string;
  stop(): Promise<void>;
  /** Resolves when the mongod has ended, whether it was stopped or not. */
  ended: Promise<void>;
}

/** How long a start waits for a mongod that stops because its owner was killed, ms. */
const releaseMs = 8_000;

/**
 * Starts a mongod and resolves when it is a writable primary. Throws a `MongodError` with the code
 * `no_mongod`, `data_dir_in_use`, `data_dir_version` (this mongod cannot open data of that version),
 * `disk_full` or `mongod_failed`.
 */
export async function startMongod(options: MongodOptions): Promise<Mongod> {
  const { say, keyFile, cacheGB = options.dataDir ? 1 : 0.25 } = options;
  const binary = options.binary ?? (await findBinary(say));
  const dataDir = await prepareDataDir(
    options.dataDir ?? (await createTemporaryDataDir()),
    options.neededBytes,
  );
  const supervisor: SupervisorOptions = {
    binary,
    dbPath: databaseFolder(dataDir),
    cacheGB,
    ...(!options.dataDir && { temporaryFolder: dataDir }),
    ...(keyFile && { keyFile }),
  };
  for (const giveUpAt = Date.now() + releaseMs; ; await sleep(100)) {
    const log = await openLog(dataDir);
    const { port, stop, ended } = await startSupervisor(supervisor, log);
    if (port !== undefined) {
      await log.keep();
      const uri = `mongodb://127.0.0.1:${port}/?replicaSet=${setName}`;
      return { uri, port, origin: binary.origin, stop, ended };
    }
    const error = explainFailure(await log.read(), dataDir, { isTemporary: !options.dataDir });
    if (error.code === 'data_dir_in_use') await log.remove();
    else await log.keep();
    if (error.code === 'data_dir_in_use' && Date.now() < giveUpAt) continue;
    if (!options.dataDir) await rm(dataDir, { recursive: true, force: true });
    throw error;
  }
}

/** Starts the supervisor. Resolves with the port of a running primary, or without it if the start failed. */
async function startSupervisor(
  options: SupervisorOptions,
  log: StartLog,
): Promise<Pick<Mongod, 'stop' | 'ended'> & { port?: number }> {
  const script = fileURLToPath(new URL('./supervisor.ts', import.meta.url));
  // detached, so that Ctrl-C does not reach the supervisor: the services stop first, then the database
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', script, JSON.stringify(options)],
    {
      detached: true,
      stdio: ['pipe', 'pipe', log.file.fd],
      env: {
        ...process.env,
        // the package then prints mongod's log
        DEBUG: 'MongoMS:MongoInstance',
        DEBUG_COLORS: 'no',
        // the version is known
        MONGOMS_SYSTEM_BINARY_VERSION_CHECK: 'false',
      },
    },
  );
  await log.file.close();
  const exited = once(child, 'exit');
  const { stdin, stdout } = child;
  if (!stdin || !stdout) throw new Error('The supervisor has no pipes');
  stdin.on('error', () => {});
  const lines = createInterface(stdout);
  const started = await Promise.race([once(lines, 'line'), exited.then(() => undefined)]);
  setRef(child, false);
  const stop = async () => {
    setRef(child, true);
    stdin.end();
    await exited;
  };
  return { ...(started && { port: Number(started[0]) }), stop, ended: exited.then(() => {}) };
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
