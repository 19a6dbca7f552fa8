/** Installs what builds and tests the Python client into the user's cache. */
import { fileURLToPath } from 'node:url';
import type { Say } from '../mongod/cache.ts';
import { installPythonPackagesWithWheels } from '../mongod/python-packages.ts';

/** The installed tools. */
export interface PythonTools {
  /** The environment in which Python finds the tools. */
  environment: Readonly<Record<string, string>>;
  /** The folder with all packages as wheels, for virtual environments. */
  wheels: string;
}

/**
 * Returns datamodel-code-generator, build, mypy, pytest and httpx, and installs them first if needed. Throws with the
 * reason if Python or pip is missing or the packages cannot be downloaded.
 */
export function installPythonTools(say: Say, env: NodeJS.ProcessEnv = process.env): Promise<PythonTools> {
  const requirements = fileURLToPath(new URL('./requirements.txt', import.meta.url));
  const title = 'the tools of the Python client (about 150 MB)';
  return installPythonPackagesWithWheels({ name: 'python-client', requirements, title }, say, env);
}
