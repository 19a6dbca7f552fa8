/** Writes files so that no reader sees half of one, and nothing is overwritten by accident. */
import { randomUUID } from 'node:crypto';
import { constants, createWriteStream } from 'node:fs';
import { chmod, copyFile, link, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import type { Download } from '../download.ts';
import { ConnectionError } from '../errors.ts';
import type { Context } from './context.ts';
import { CommandError } from './exit-codes.ts';

/**
 * Replaces a file in one step, and keeps its mode. Writes through a symbolic link, and directly to a pipe or device.
 */
export async function replaceFile(path: string, content: string | Uint8Array): Promise<void> {
  const target = await findTarget(path);
  if (target.isStream) return writeFile(target.path, content);
  const temporary = toTemporary(target.path);
  try {
    await writeFile(temporary, content, { mode: target.mode });
    await replace(temporary, target);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Rejects if the folder of a file cannot be written, so that a program finds out before it changes the service. */
export async function assertWritable(path: string): Promise<void> {
  const target = await findTarget(path);
  if (target.isStream) return;
  const temporary = toTemporary(target.path);
  try {
    await writeFile(temporary, '', { flag: 'wx' });
  } catch (error) {
    throw new CommandError(`Cannot write to ${dirname(target.path)}: ${(error as Error).message}`, 1, {
      cause: error,
    });
  } finally {
    await rm(temporary, { force: true });
  }
}

/**
 * Writes a download to `output`, which may be `-` for stdout, else to a new file with its own name. Returns the path,
 * or undefined for stdout. An incomplete download leaves no file.
 */
export async function saveDownload(
  context: Context,
  file: Download,
  output?: string,
): Promise<string | undefined> {
  if (output === '-') {
    await pipeline(toNodeStream(file), context.stdout, { end: false }).catch((error) => {
      // the reader of a pipe, such as `head`, may end first
      if (!hasCode(error, 'EPIPE')) explainBreak(error);
    });
    return undefined;
  }
  const path = resolve(context.cwd, output ?? file.name);
  const target: Target = output === undefined ? { path, isStream: false } : await findTarget(path);
  if (target.isStream) {
    await pipeline(toNodeStream(file), createWriteStream(target.path)).catch(explainBreak);
    return path;
  }
  const temporary = toTemporary(target.path);
  try {
    const draft = createWriteStream(temporary, { flags: 'wx', mode: target.mode });
    await pipeline(toNodeStream(file), draft).catch(explainBreak);
    if (output !== undefined) await replace(temporary, target);
    else await linkNew(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
  return path;
}

/** What to write for a path. */
interface Target {
  /** The path, or the file that a symbolic link names. */
  path: string;
  /** Whether it is a pipe or device. */
  isStream: boolean;
  /** The mode of the file that is there. */
  mode?: number;
}

async function findTarget(path: string): Promise<Target> {
  const found = await stat(path).catch(() => undefined);
  if (!found) return { path, isStream: false };
  if (found.isDirectory()) throw new CommandError(`${path} is a folder. Name a file.`);
  // a pipe such as /dev/stdout has no real path
  if (!found.isFile()) return { path, isStream: true };
  return { path: await realpath(path), isStream: false, mode: found.mode & 0o777 };
}

/** Gives a file the name and the mode of the one that it replaces. */
async function replace(temporary: string, { path, mode }: Target): Promise<void> {
  // the mode at its creation depends on the umask
  if (mode !== undefined) await chmod(temporary, mode);
  await rename(temporary, path);
}

/** Gives a file its name unless there is one with this name. */
async function linkNew(temporary: string, path: string): Promise<void> {
  try {
    // not every file system has hard links
    await link(temporary, path).catch((error: unknown) => {
      if (hasCode(error, 'EEXIST')) throw error;
      return copyFile(temporary, path, constants.COPYFILE_EXCL);
    });
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
    throw new CommandError(`${path} exists. Use --output to replace it or to choose another name.`);
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

function toTemporary(path: string): string {
  return join(dirname(path), `.pds-${randomUUID()}`);
}

function toNodeStream({ stream }: Download): Readable {
  // the types of Node and of browsers describe the same stream
  return Readable.fromWeb(stream as ReadableStream<Uint8Array>);
}

function explainBreak(error: NodeJS.ErrnoException): never {
  if (error.code && /^E[A-Z]+$/.test(error.code) && error.code !== 'ECONNRESET')
    throw new CommandError(`The file cannot be written: ${error.message}`, 1, { cause: error });
  throw new ConnectionError('The connection broke before the file was complete.', { cause: error });
}
