/** The folder of a mongod: its database files, its log, and the errors that the folder can cause. */
import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, mkdtemp, open, readFile, rename, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type MongodError, mongodError } from './mongod-error.ts';

/** The free disk space required to start, in bytes. A new data folder needs about as much. */
export const neededBytes = 300_000_000;

/** The path of the folder with mongod's database files. */
export function databaseFolder(dataDir: string): string {
  return join(dataDir, 'db');
}

/** The path of mongod's log. The log of the previous run is kept with the suffix `.1`. */
export function logFile(dataDir: string): string {
  return join(dataDir, 'mongod.log');
}

/** Creates a temporary data folder. */
export function createTemporaryDataDir(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'pds-mongod-'));
}

/**
 * Prepares a data folder and returns its absolute path. Throws `disk_full` if less than `needed` bytes are
 * free.
 */
export async function prepareDataDir(dataDir: string, needed = neededBytes): Promise<string> {
  const path = resolve(dataDir);
  await mkdir(databaseFolder(path), { recursive: true });
  const { bavail, bsize } = await statfs(path);
  if (bavail * bsize < needed) throw diskFullError(path, needed);
  return path;
}

/** The log of one start. Each start writes its own file, because several can run at the same time. */
export interface StartLog {
  file: FileHandle;
  read(): Promise<string>;
  /** Makes it the log of the folder. */
  keep(): Promise<void>;
  remove(): Promise<void>;
}

/** Opens the log of one start. */
export async function openLog(dataDir: string): Promise<StartLog> {
  const path = `${logFile(dataDir)}.${randomUUID()}`;
  return {
    file: await open(path, 'wx', 0o600),
    read: () => readFile(path, 'utf8'),
    keep: async () => {
      await rename(logFile(dataDir), `${logFile(dataDir)}.1`).catch(() => {});
      await rename(path, logFile(dataDir));
    },
    remove: () => rm(path, { force: true }),
  };
}

/** The exit codes of mongod that are handled (src/mongo/util/exit_code.h). */
const wrongVersion = '62';
const folderInUse = '100';

/** How many lines of a log that will be removed an error shows. */
const shownLines = 20;

/** Creates the error for a mongod that could not start, from its log. A temporary folder will be removed. */
export function explainFailure(log: string, dataDir: string, { isTemporary = false } = {}): MongodError {
  const exitCode = /"exitCode":(\d+)/.exec(log)?.[1];
  if (exitCode === folderInUse || log.includes('DBPathInUse')) return inUseError(dataDir);
  if (/No space left on device/i.test(log)) return diskFullError(dataDir);
  if (exitCode === wrongVersion)
    return mongodError(
      'data_dir_version',
      `The data in ${dataDir} was written by a MongoDB version that this mongod cannot open.`,
    );
  if (!isTemporary) return mongodError('mongod_failed', `mongod could not start: see ${logFile(dataDir)}.`);
  // the stack traces of the supervisor follow what mongod wrote
  const lines = log.split('\n').filter((line) => line !== '' && !/^ +at /.test(line));
  const end = lines.slice(-shownLines).join('\n');
  return mongodError('mongod_failed', `mongod could not start in ${dataDir}. The end of its log:\n${end}`);
}

function diskFullError(path: string, needed = neededBytes): MongodError {
  const megabytes = Math.ceil(needed / 1_000_000);
  return mongodError(
    'disk_full',
    `The disk of ${path} is full: MongoDB needs at least ${megabytes} MB of free space.`,
  );
}

function inUseError(path: string): MongodError {
  return mongodError(
    'data_dir_in_use',
    `The data folder ${path} is in use by another process: stop that process, or use another folder.`,
  );
}
