/** Installs Python packages with pinned versions and checksums into the user's cache. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createCacheFolder, type Say, saveToCache, withFileLock } from './cache.ts';
import { pip } from './python.ts';

/** The packages of one tool. */
export interface PythonPackages {
  /** Name of the folder in the cache. */
  name: string;
  /** Path of the requirements with checksums. */
  requirements: string;
  /** What is installed and how large it is, for the user. */
  title: string;
}

/**
 * Returns the environment in which Python finds the packages, and installs them first if needed. Throws with the reason
 * if Python or pip is missing or the packages cannot be downloaded.
 */
export async function installPythonPackages(
  packages: PythonPackages,
  say: Say,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Readonly<Record<string, string>>> {
  const folder = await cachePackages(packages, { say, env }, (draft) =>
    pip(['install', ...pinned, '--target', join(draft, 'packages'), '--requirement', packages.requirements]),
  );
  return toEnvironment(folder);
}

/**
 * Does the same, and keeps the packages as wheels in the folder `wheels`, from which pip can install them into virtual
 * environments without a network.
 */
export async function installPythonPackagesWithWheels(
  packages: PythonPackages,
  say: Say,
  env: NodeJS.ProcessEnv = process.env,
): Promise<{ environment: Readonly<Record<string, string>>; wheels: string }> {
  const folder = await cachePackages(packages, { say, env }, async (draft) => {
    const wheels = join(draft, 'wheels');
    await pip(['download', ...pinned, '--dest', wheels, '--requirement', packages.requirements]);
    const source = ['--no-index', '--find-links', wheels, '--requirement', packages.requirements];
    await pip(['install', ...pinned, '--target', join(draft, 'packages'), ...source]);
  });
  return { environment: toEnvironment(folder), wheels: join(folder, 'wheels') };
}

const pinned = ['--no-deps', '--require-hashes', '--only-binary=:all:'];

function toEnvironment(folder: string): Readonly<Record<string, string>> {
  return { PYTHONPATH: join(folder, 'packages'), PYTHONDONTWRITEBYTECODE: '1' };
}

/** Fills the folder of these packages in the cache, if it does not exist yet, and returns its path. */
async function cachePackages(
  { name, requirements, title }: PythonPackages,
  { say, env }: { say: Say; env: NodeJS.ProcessEnv },
  fill: (draft: string) => Promise<void>,
): Promise<string> {
  const folder = join(await createCacheFolder(env), name);
  await mkdir(folder, { recursive: true });
  // compiled packages belong to one version of Python and one architecture
  const text = await readFile(requirements, 'utf8');
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 12);
  const entry = `${hash}-${await getPlatform()}`;
  await withFileLock(join(folder, '.fetching'), say, async () => {
    if (await exists(join(folder, entry, 'installed'))) return;
    say(`Installing ${title}, once, to ${folder}.`);
    await saveToCache(folder, entry, 'installed', async (draft) => {
      await fill(draft);
      await writeFile(join(draft, 'installed'), '');
    });
  });
  return join(folder, entry);
}

async function getPlatform(): Promise<string> {
  const program = 'import sys, platform; print("%d.%d-%s" % (*sys.version_info[:2], platform.machine()))';
  const { stdout } = await promisify(execFile)('python3', ['-c', program]).catch(() => {
    throw new Error(
      'it requires Python 3 with pip; install them (on Debian and Ubuntu: apt-get install python3-pip)',
    );
  });
  return stdout.trim();
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
