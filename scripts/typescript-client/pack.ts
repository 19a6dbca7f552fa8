/**
 * Builds the TypeScript client and packs it as npm publishes it (`npm run client:pack`): compiled to JavaScript with
 * types, in a file `process-document-service-client-<version>.tgz`.
 */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { generateClient } from './generate.ts';

/** Runs a tool. npm and the compiler would leave their compiled code in the folder for temporary files. */
const run = (file: string, args: readonly string[], { cwd }: { cwd?: string } = {}) =>
  promisify(execFile)(file, args, { cwd, env: { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' } });
const root = resolve(import.meta.dirname, '../..');
const source = join(root, 'clients/typescript');

/** Packs the client into a folder. Returns the path of the file. Rejects with the compiler's output. */
export async function packClient(folder: string): Promise<string> {
  await generateClient();
  const build = await mkdtemp(join(tmpdir(), 'pds-client-'));
  try {
    const compiler = join(root, 'node_modules/.bin/tsc');
    await run(compiler, ['-p', source, '--outDir', join(build, 'dist')]).catch((error) => {
      throw new Error(`The client does not compile:\n${error.stdout}`, { cause: error });
    });
    for (const name of ['package.json', 'README.md']) await cp(join(source, name), join(build, name));
    await cp(join(root, 'LICENSE'), join(build, 'LICENSE'));
    await mkdir(folder, { recursive: true });
    const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: build });
    const [{ filename }] = JSON.parse(stdout);
    return join(folder, filename);
  } finally {
    await rm(build, { recursive: true, force: true });
  }
}

if (import.meta.main) console.log(await packClient(resolve(process.argv[2] ?? source)));
