/**
 * Prepares a data folder for a mongod: checks the disk space and that no other process uses the folder, and
 * stops a mongod whose owner has ended.
 */
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Say } from './cache.ts';
import { embeddedError } from './embedded-error.ts';
import { getCommandLine, isAlive, type ProcessMark, terminate, waitUntilEnded } from './process-mark.ts';

/** The free disk space required to start, in bytes. A new data folder needs about as much. */
export const neededBytes = 300_000_000;

const temporaryPrefix = 'pds-mongod-';

/** The path of the file in which a supervisor records the owner of the mongod with that pid. */
export function ownerFile(dataDir: string, mongod: number): string {
  return join(dataDir, `owner-${mongod}.json`);
}

/** The folder of mongod's database files. */
export function databaseFolder(dataDir: string): string {
  return join(dataDir, 'db');
}

/** The path of mongod's log. The log of the previous run is kept with the suffix `.1`. */
export function logFile(dataDir: string): string {
  return join(dataDir, 'mongod.log');
}

/** Creates a temporary data folder, and removes the temporary folders whose processes have all ended. */
export async function createTemporaryDataDir(): Promise<string> {
  const names = await readdir(tmpdir());
  for (const name of names.filter((name) => name.startsWith(temporaryPrefix)))
    await removeIfAbandoned(join(tmpdir(), name));
  return mkdtemp(join(tmpdir(), temporaryPrefix));
}

/**
 * Prepares a data folder and returns its absolute path. Waits for a mongod that is stopping, and stops one
 * whose owner has ended. Throws `data_dir_in_use` if the owner is running, `disk_full` if less than `needed`
 * bytes are free.
 */
export async function prepareDataDir(dataDir: string, say: Say, needed = neededBytes): Promise<string> {
  const path = resolve(dataDir);
  await mkdir(databaseFolder(path), { recursive: true });
  await stopOrphanedMongod(path, say);
  const { bavail, bsize } = await statfs(path);
  if (bavail * bsize < needed) throw diskFullError(path, needed);
  await rename(logFile(path), `${logFile(path)}.1`).catch(() => {});
  return path;
}

/** Creates the error for a full disk. */
export function diskFullError(path: string, needed = neededBytes): Error {
  const megabytes = Math.ceil(needed / 1_000_000);
  return embeddedError(
    'disk_full',
    `The disk of ${path} is full: MongoDB needs at least ${megabytes} MB of free space.`,
  );
}

/** Creates the error for a data folder that another process uses. */
export function inUseError(path: string, pid?: number): Error {
  const user = pid === undefined ? 'another process' : `process ${pid}`;
  return embeddedError(
    'data_dir_in_use',
    `The data folder ${path} is in use by ${user}: stop that process, or use another folder.`,
  );
}

async function stopOrphanedMongod(path: string, say: Say): Promise<void> {
  for (const file of await listOwnerFiles(path)) {
    const owner = await readOwner(join(path, file));
    if (owner && (await isRunningIn(owner.mongod, path))) {
      if (await isAlive(owner.main)) throw inUseError(path, owner.main.pid);
      // if its supervisor is running, it is stopping the mongod now
      const supervised = owner.supervisor !== undefined && (await isAlive(owner.supervisor));
      if (!supervised || !(await waitUntilEnded(owner.mongod, 5_000))) {
        say(`Stopping the mongod (pid ${owner.mongod.pid}) that a previous run left running in ${path}.`);
        await terminate(owner.mongod, 10_000);
      }
    }
    await rm(join(path, file), { force: true });
  }
}

type Owner = { main: ProcessMark; supervisor?: ProcessMark; mongod: ProcessMark };

/** Whether the marked process is running and is a mongod on this folder. */
async function isRunningIn(mongod: ProcessMark, path: string): Promise<boolean> {
  if (!(await isAlive(mongod))) return false;
  const command = await getCommandLine(mongod.pid);
  // an ending process loses its command line before it releases the folder
  return command === undefined ? isAlive(mongod) : command.includes(databaseFolder(path));
}

async function removeIfAbandoned(path: string): Promise<void> {
  const files = await listOwnerFiles(path);
  for (const file of files) {
    const owner = await readOwner(join(path, file));
    if (!owner || (await isAlive(owner.main))) return;
    if (owner.supervisor && (await isAlive(owner.supervisor))) return;
    if (await isRunningIn(owner.mongod, path)) await terminate(owner.mongod, 0);
  }
  // a folder without an owner may have just been created, but not an hour ago
  const modifiedAt = (await stat(path).catch(() => undefined))?.mtimeMs ?? Date.now();
  if (files.length > 0 || Date.now() - modifiedAt > 3_600_000)
    await rm(path, { recursive: true, force: true });
}

async function listOwnerFiles(path: string): Promise<string[]> {
  const names = await readdir(path).catch(() => []);
  return names.filter((name) => /^owner-\d+\.json$/.test(name));
}

async function readOwner(file: string): Promise<Owner | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Owner;
  } catch {
    return undefined;
  }
}
