/** Installs Schemathesis, which fuzzes an API from its OpenAPI reference, into the user's cache. */
import { fileURLToPath } from 'node:url';
import type { Say } from '../mongod/cache.ts';
import { installPythonPackages } from '../mongod/python-packages.ts';

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
  const packages = {
    name: 'schemathesis',
    requirements: fileURLToPath(new URL('./requirements.txt', import.meta.url)),
    title: 'Schemathesis for the fuzz tests (about 60 MB)',
  };
  const environment = await installPythonPackages(packages, say, env);
  return { command: 'python3', args: ['-m', 'schemathesis.cli'], environment };
}
