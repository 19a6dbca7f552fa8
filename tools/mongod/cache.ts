/** Caches downloaded files between runs: written atomically, safe for concurrent processes. */
import { access, constants, lstat, mkdir, mkdtemp, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive, readProcessMark } from './process-mark.ts';

/** The age at which a lock without content is stale, ms. */
const emptyLockMs = 10_000;

/** Shows the user one line on the terminal. */
export type Say = (line: string) => void;

/**
 * Creates the cache folder: `PDS_CACHE_DIR`, or else in the user's cache, or else in the system's temporary
 * folder. There, other users could have created the folder, so a new one is used if it is not the user's own.
 */
export async function createCacheFolder(env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const configured = env.PDS_CACHE_DIR;
  const defaultFolder = join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'process-document-service');
  const preferred = configured || defaultFolder;
  if (await isWritable(preferred)) return preferred;
  const fallback = join(tmpdir(), 'process-document-service');
  return (await createOwnFolder(fallback)) ? fallback : mkdtemp(`${fallback}-`);
}

/**
 * Caches the file that `write` creates as `file` in a draft folder, which is then moved into the cache
 * atomically.
 */
export async function saveToCache(
  folder: string,
  entry: string,
  file: string,
  write: (folder: string) => Promise<void>,
): Promise<string> {
  await mkdir(folder, { recursive: true });
  const draft = await mkdtemp(join(folder, '.draft-'));
  try {
    await write(draft);
    // renaming to a folder with files fails: another process was faster, and its copy is equivalent
    await rename(draft, join(folder, entry)).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return join(folder, entry, file);
}

/** Runs `work` while no other process holds the lock file. The lock of a dead process is ignored. */
export async function withFileLock<T>(lock: string, say: Say, work: () => Promise<T>): Promise<T> {
  for (let tries = 0; !(await tryLock(lock)); tries++) {
    if (tries === 5) say('Waiting for another process that is downloading the same file.');
    await sleep(200);
  }
  try {
    return await work();
  } finally {
    await rm(lock, { force: true });
  }
}

async function tryLock(lock: string): Promise<boolean> {
  try {
    const file = await open(lock, 'wx');
    await file.writeFile(JSON.stringify(await readProcessMark(process.pid)));
    await file.close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const owner = await readFile(lock, 'utf8').catch(() => '');
  const isStale = owner.endsWith('}') ? !(await isAlive(JSON.parse(owner))) : await isAbandoned(lock);
  // if two waiters both remove a stale lock, the download only runs twice
  if (isStale) await rm(lock, { force: true });
  return false;
}

/** Whether an empty lock is not being written any more, because its process was killed. */
async function isAbandoned(lock: string): Promise<boolean> {
  const found = await stat(lock).catch(() => undefined);
  return found !== undefined && Date.now() - found.mtimeMs > emptyLockMs;
}

/** Removes a damaged entry at once, also while another process reads it. */
export async function discard(folder: string): Promise<void> {
  const discarded = `${folder}.broken-${process.pid}`;
  await rename(folder, discarded).catch(() => undefined);
  await rm(discarded, { recursive: true, force: true });
}

async function isWritable(folder: string): Promise<boolean> {
  try {
    await mkdir(folder, { recursive: true });
    await access(folder, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Creates a folder that only the user can read. Returns false if the path belongs to another user or is a link. */
async function createOwnFolder(folder: string): Promise<boolean> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const found = await lstat(folder);
    return found.isDirectory() && found.uid === (process.getuid?.() ?? found.uid);
  } catch {
    return false;
  }
}
