/** Stores the address of the service and the API key in a file that only the user can read. */
import { randomUUID } from 'node:crypto';
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { toBase } from '../requests.ts';
import { CommandError, exitCodes } from './exit-codes.ts';
import { assertWritable } from './files.ts';

/** Where the service is, and the key for it. */
export interface Credentials {
  url: string;
  key: string;
}

/** The content of the file. */
export interface StoredCredentials extends Credentials {
  /** The id of the key, if `pds login` has created it. */
  key_id?: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The path of the file: in the folder for settings of the user. */
export function getCredentialsFile(env: Environment): string {
  const folder =
    env.PDS_CONFIG_DIR ||
    (process.platform === 'win32' && env.APPDATA
      ? join(env.APPDATA, 'pds')
      : join(env.XDG_CONFIG_HOME || join(env.HOME || homedir(), '.config'), 'pds'));
  return join(folder, 'credentials.json');
}

/** Reads the file; undefined if there is none. */
export async function readStoredCredentials(env: Environment): Promise<StoredCredentials | undefined> {
  const file = getCredentialsFile(env);
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new CommandError(`Cannot read ${file}: ${error.message}`);
  });
  if (text === undefined) return undefined;
  try {
    const { url, key, key_id } = JSON.parse(text);
    if (typeof url === 'string' && typeof key === 'string')
      return { url, key, ...(typeof key_id === 'string' && { key_id }) };
  } catch {
    // reported below
  }
  throw new CommandError(`${file} is damaged. Run \`pds login\` to write it again.`);
}

/** Creates the folder of the file. Rejects with a `CommandError` if the file could not be written. */
export async function assertCredentialsWritable(env: Environment): Promise<void> {
  const file = getCredentialsFile(env);
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new CommandError(`Cannot create the folder ${dirname(file)}: ${(error as Error).message}`, 1, {
      cause: error,
    });
  }
  await assertWritable(file);
}

/** Replaces the file. Its mode is 600, that of a new folder is 700. */
export async function writeStoredCredentials(
  env: Environment,
  credentials: StoredCredentials,
): Promise<string> {
  const file = getCredentialsFile(env);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.${randomUUID()}`;
  try {
    await writeFile(temporary, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
    await chmod(temporary, 0o600);
    await rename(temporary, file);
  } finally {
    await rm(temporary, { force: true });
  }
  return file;
}

/** Removes the file. */
export async function removeStoredCredentials(env: Environment): Promise<void> {
  await rm(getCredentialsFile(env), { force: true });
}

/**
 * The credentials: PDS_URL (or `--url`) and PDS_KEY, else those of the file. The key of the file is only used for the
 * address that it belongs to. Rejects with a `CommandError` that says what to do.
 */
export async function readCredentials(env: Environment, option?: string): Promise<Credentials> {
  const stored = env.PDS_KEY && (option ?? env.PDS_URL) ? undefined : await readStoredCredentials(env);
  const given = option || env.PDS_URL || stored?.url;
  if (!given)
    throw new CommandError(
      'Not logged in. Run `pds login`, or set PDS_URL and PDS_KEY.',
      exitCodes.notAuthorized,
    );
  const url = checkUrl(given);
  const key = env.PDS_KEY || (stored && isSameService(stored.url, url) ? stored.key : undefined);
  if (!key)
    throw new CommandError(
      `There is no API key for ${url}. Run \`pds login --url ${url}\`, or set PDS_KEY.`,
      exitCodes.notAuthorized,
    );
  if (!/^[\x21-\x7e]+$/.test(key.trim()))
    throw new CommandError(
      'The API key has characters that no key has. Check PDS_KEY, or run `pds login`.',
      exitCodes.usage,
    );
  return { url, key };
}

/** Returns the URL. Throws a `CommandError` if it is not one of a service. */
export function checkUrl(url: string): string {
  try {
    return toBase(url);
  } catch (error) {
    throw new CommandError((error as Error).message, exitCodes.usage);
  }
}

function isSameService(a: string, b: string): boolean {
  return checkUrl(a) === checkUrl(b);
}
