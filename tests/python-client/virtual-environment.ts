/** A new virtual environment of Python that has installed the built client, without access to a package index. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildPythonClient } from '../../scripts/python-client/build.ts';
import type { PythonTools } from '../../tools/python-client/install.ts';
import { runOrThrow } from '../typescript-client/programs.ts';

/** The environment. */
export interface VirtualEnvironment {
  folder: string;
  /** Its Python. */
  python: string;
  /** Removes the environment. */
  remove(): Promise<void>;
}

/** Creates the environment with the client, what the client needs, and pytest. */
export async function createVirtualEnvironment(tools: PythonTools): Promise<VirtualEnvironment> {
  const folder = await mkdtemp(join(tmpdir(), 'pds-python-'));
  try {
    const wheel = await buildPythonClient(join(folder, 'dist'), tools);
    // without pip in it, because Debian has the module for that in another package
    await runOrThrow('python3', ['-m', 'venv', '--without-pip', join(folder, 'venv')]);
    const python = join(folder, 'venv/bin/python');
    const pip = ['-m', 'pip', '--python', python, '--no-input', '--disable-pip-version-check', 'install'];
    // `--no-index` fails if the client needs a package that its requirements do not lead to
    const source = ['--quiet', '--no-cache-dir', '--no-index', '--find-links', tools.wheels];
    await runOrThrow('python3', [...pip, ...source, wheel, 'pytest'], { env: { HOME: folder } });
    return { folder, python, remove: () => rm(folder, { recursive: true, force: true }) };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}
