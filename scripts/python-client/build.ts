/**
 * Builds the Python client as it is published (`npm run client:wheel`): a wheel
 * `process_document_service-<version>-py3-none-any.whl` and a source distribution.
 */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { installPythonTools, type PythonTools } from '../../tools/python-client/install.ts';
import { generatePythonClient } from './generate.ts';

const root = resolve(import.meta.dirname, '../..');
const source = join(root, 'clients/python');

/** Builds the client into a folder. Returns the path of the wheel. Rejects with the output of the tool that failed. */
export async function buildPythonClient(folder: string, tools: PythonTools): Promise<string> {
  const build = await mkdtemp(join(tmpdir(), 'pds-python-client-'));
  try {
    for (const name of ['pyproject.toml', 'README.md', 'src'])
      await cp(join(source, name), join(build, name), { recursive: true });
    await cp(join(root, 'LICENSE'), join(build, 'LICENSE'));
    await generatePythonClient(join(build, 'src/process_document_service'), tools);
    await mkdir(folder, { recursive: true });
    // the wheel is built from the source distribution, so both are complete
    const args = [
      '-m',
      'build',
      '--no-isolation',
      '--skip-dependency-check',
      '--outdir',
      resolve(folder),
      build,
    ];
    const env = { ...process.env, ...tools.environment };
    await promisify(execFile)('python3', args, { env }).catch((error) => {
      throw new Error(`The client cannot be built:\n${error.stdout}${error.stderr}`, { cause: error });
    });
  } finally {
    await rm(build, { recursive: true, force: true });
  }
  const wheel = (await readdir(folder)).find((name) => name.endsWith('.whl'));
  if (!wheel) throw new Error('The build has written no wheel.');
  return join(folder, wheel);
}

if (import.meta.main) {
  const tools = await installPythonTools((line) => void process.stderr.write(`${line}\n`));
  console.log(await buildPythonClient(resolve(process.argv[2] ?? join(source, 'dist')), tools));
}
