/** Installs the linters and client generators with which the API reference is tested, into the user's cache. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createCacheFolder, type Say, saveToCache, withFileLock } from '../mongod/cache.ts';
import { installPythonPackages } from '../mongod/python-packages.ts';

/** The packages with their versions and checksums. */
const manifests = ['package.json', 'package-lock.json'];
const source = new URL('./npm/', import.meta.url);

/** What keeps the tools from calling their makers. */
export const offline = {
  REDOCLY_TELEMETRY: 'off',
  REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
  DO_NOT_TRACK: '1',
  SCARF_ANALYTICS: 'false',
};

/**
 * Returns the folder `node_modules` of the npm tools, and installs them first if needed. Throws with the reason if the
 * packages cannot be downloaded.
 */
export async function installOpenApiTools(say: Say, env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const folder = join(await createCacheFolder(env), 'openapi-tools');
  await mkdir(folder, { recursive: true });
  const lock = await readFile(new URL('package-lock.json', source));
  const entry = createHash('sha256').update(lock).digest('hex').slice(0, 12);
  await withFileLock(join(folder, '.fetching'), say, async () => {
    if (await exists(join(folder, entry, 'installed'))) return;
    say(`Installing the linters and generators of the API reference (about 140 MB), once, to ${folder}.`);
    await saveToCache(folder, entry, 'installed', async (draft) => {
      for (const file of manifests) await copyFile(new URL(file, source), join(draft, file));
      const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
      await promisify(execFile)('npm', ['ci', ...flags], { cwd: draft, env: { ...env, ...offline } });
      await writeFile(join(draft, 'installed'), '');
    });
  });
  return join(folder, entry, 'node_modules');
}

/** Installs openapi-python-client. Returns the environment in which Python finds it. */
export function installPythonGenerator(say: Say): Promise<Readonly<Record<string, string>>> {
  const requirements = fileURLToPath(new URL('./requirements.txt', import.meta.url));
  const title = 'openapi-python-client for the tests of the API reference (about 30 MB)';
  return installPythonPackages({ name: 'openapi-python-client', requirements, title }, say);
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
