/** Makes a data folder ready for a mongod: room on the disk, nobody else in it, nothing left behind by the dead. */
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Say } from './cache.ts';
import { embeddedError } from './embedded-error.ts';
import { getCommandLine, isAlive, type ProcessMark, terminate, waitUntilEnded } from './process-mark.ts';

/** Less free room than this and a start is refused: a new folder alone takes about as much. */
export const neededBytes = 300_000_000;

const temporaryPrefix = 'pds-mongod-';

/** Where a supervisor notes who runs the mongod with that pid. */
export function ownerFile(dataDir: string, mongod: number): string {
  return join(dataDir, `owner-${mongod}.json`);
}

/** Where mongod keeps its files. */
export function databaseFolder(dataDir: string): string {
  return join(dataDir, 'db');
}

/** Where mongod writes its log; the log of the run before is kept beside it. */
export function logFile(dataDir: string): string {
  return join(dataDir, 'mongod.log');
}

/** Makes a new temporary data folder, and clears those whose processes are all dead. */
export async function createTemporaryDataDir(): Promise<string> {
  const names = await readdir(tmpdir());
  for (const name of names.filter((one) => one.startsWith(temporaryPrefix)))
    await removeIfAbandoned(join(tmpdir(), name));
  return mkdtemp(join(tmpdir(), temporaryPrefix));
}

/**
 * Makes a data folder ready and answers its absolute path. Waits for a mongod that is about to stop, stops one whose owner
 * has died; throws `data_dir_in_use` when the owner lives, `disk_full` when less than `needed` bytes are free.
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

/** The error for a full disk. */
export function diskFullError(path: string, needed = neededBytes): Error {
  const megabytes = Math.ceil(needed / 1_000_000);
  return embeddedError(
    'disk_full',
    `The disk of ${path} is full: MongoDB needs at least ${megabytes} MB free there.`,
  );
}

/** The error for a data folder in which somebody else's mongod runs. */
export function inUseError(path: string, pid?: number): Error {
  const user = pid === undefined ? 'another process' : `process ${pid}`;
  return embeddedError(
    'data_dir_in_use',
    `The data folder ${path} is in use by ${user}: stop that one first, or name another folder.`,
  );
}

async function stopOrphanedMongod(path: string, say: Say): Promise<void> {
  for (const file of await ownerFiles(path)) {
    const owner = await readOwner(join(path, file));
    if (owner && (await isRunningIn(owner.mongod, path))) {
      if (await isAlive(owner.main)) throw inUseError(path, owner.main.pid);
      // its supervisor, if that lives, is stopping it now
      const supervised = owner.supervisor !== undefined && (await isAlive(owner.supervisor));
      if (!supervised || !(await waitUntilEnded(owner.mongod, 5_000))) {
        say(`Stopping the mongod (pid ${owner.mongod.pid}) that a run before left in ${path}.`);
        await terminate(owner.mongod, 10_000);
      }
    }
    await rm(join(path, file), { force: true });
  }
}

type Owner = { main: ProcessMark; supervisor?: ProcessMark; mongod: ProcessMark };

/** True when the marked process still lives and is a mongod on this folder, not another one under its old pid. */
async function isRunningIn(mongod: ProcessMark, path: string): Promise<boolean> {
  if (!(await isAlive(mongod))) return false;
  const command = await getCommandLine(mongod.pid);
  // one that is ending loses its command line before it lets go of the folder
  return command === undefined ? isAlive(mongod) : command.includes(databaseFolder(path));
}

async function removeIfAbandoned(path: string): Promise<void> {
  const files = await ownerFiles(path);
  for (const file of files) {
    const owner = await readOwner(join(path, file));
    if (!owner || (await isAlive(owner.main))) return;
    if (owner.supervisor && (await isAlive(owner.supervisor))) return;
    if (await isRunningIn(owner.mongod, path)) await terminate(owner.mongod, 0);
  }
  // without an owner it may be just being made, but not for an hour
  const modifiedAt = (await stat(path).catch(() => undefined))?.mtimeMs ?? Date.now();
  if (files.length > 0 || Date.now() - modifiedAt > 3_600_000)
    await rm(path, { recursive: true, force: true });
}

async function ownerFiles(path: string): Promise<string[]> {
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
