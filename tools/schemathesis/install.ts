/** Installs Schemathesis, which fuzzes an API from its OpenAPI reference, into the user's cache. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createCacheFolder, type Say, saveToCache, withFileLock } from '../mongod/cache.ts';
import { pip } from '../mongod/pip.ts';

/** The packages with their versions and checksums. */
const requirements = fileURLToPath(new URL('./requirements.txt', import.meta.url));

/** An installed Schemathesis: how to start it. */
export interface Schemathesis {
  command: string;
  args: readonly string[];
  environment: Readonly<Record<string, string>>;
}

/**
 * Returns the installed Schemathesis, and installs it first if needed. Throws with the reason if Python or pip is
 * missing or the packages cannot be downloaded.
 */
export async function installSchemathesis(
  say: Say,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Schemathesis> {
  const folder = join(await createCacheFolder(env), 'schemathesis');
  await mkdir(folder, { recursive: true });
  // compiled packages belong to one version of Python and one architecture
  const text = await readFile(requirements, 'utf8');
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 12);
  const entry = `${hash}-${await getPlatform()}`;
  await withFileLock(join(folder, '.fetching'), say, async () => {
    if (await exists(join(folder, entry, 'installed'))) return;
    say(`Installing Schemathesis for the fuzz tests (once, about 60 MB, to ${folder}).`);
    await saveToCache(folder, entry, 'installed', async (draft) => {
      const target = ['--target', join(draft, 'packages'), '--requirement', requirements];
      await pip(['install', '--no-deps', '--require-hashes', '--only-binary=:all:', ...target]);
      await writeFile(join(draft, 'installed'), '');
    });
  });
  const packages = join(folder, entry, 'packages');
  return {
    command: 'python3',
    args: ['-m', 'schemathesis.cli'],
    environment: { PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: '1' },
  };
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
