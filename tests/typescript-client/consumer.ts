/** A new project that has installed the packed client, without access to a registry. */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packClient } from '../../scripts/typescript-client/pack.ts';
import { runOrThrow } from './programs.ts';

/** Runs a tool. npm and the compiler would leave their compiled code in the folder for temporary files. */
const run = (file: string, args: readonly string[], { cwd }: { cwd?: string } = {}) =>
  promisify(execFile)(file, args, { cwd, env: { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' } });
const root = join(import.meta.dirname, '../..');

/** The project. */
export interface Consumer {
  folder: string;
  /** The compiled program `pds`. */
  pds: string;
  /** The folder of the client's modules. */
  modules: string;
  /** Removes the project. */
  remove(): Promise<void>;
}

/** Creates the project, with `story.ts` compiled to `story.js`. Rejects with what the compiler reports. */
export async function createConsumer(): Promise<Consumer> {
  const folder = await mkdtemp(join(tmpdir(), 'pds-consumer-'));
  const tarball = await packClient(join(folder, 'packed'));
  await writeJson(join(folder, 'package.json'), { name: 'consumer', private: true, type: 'module' });
  // `--offline` fails if the package needs another one
  const flags = ['--offline', '--no-audit', '--no-fund'];
  await run('npm', ['install', ...flags, tarball], { cwd: folder });
  await cp(join(import.meta.dirname, 'story.ts'), join(folder, 'story.ts'));
  const modules = join(folder, 'node_modules/process-document-service-client/dist');
  await compile(folder, 'story.ts');
  return {
    folder,
    modules,
    pds: join(modules, 'cli/main.js'),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Compiles with strict settings, without the types of Node, and checks the types of the package too. */
async function compile(folder: string, file: string): Promise<void> {
  const compilerOptions = {
    target: 'es2022',
    lib: ['es2022', 'DOM', 'DOM.Iterable', 'DOM.AsyncIterable'],
    types: [],
    module: 'nodenext',
    strict: true,
    skipLibCheck: false,
  };
  await writeJson(join(folder, 'tsconfig.json'), { compilerOptions, files: [file] });
  await run(join(root, 'node_modules/.bin/tsc'), ['-p', folder]).catch((error) => {
    throw new Error(`The consumer does not compile:\n${error.stdout}`, { cause: error });
  });
}

/** Reads the manifest of the package. */
export async function readManifest() {
  return JSON.parse(await readFile(join(root, 'clients/typescript/package.json'), 'utf8'));
}

async function writeJson(path: string, value: unknown): Promise<void> {
  await writeFile(path, JSON.stringify(value));
}

/**
 * Compiles and runs the code blocks of the package's README as one program. `prelude` replaces what they take from the
 * reader. Returns what they print.
 */
export async function runReadme(
  { folder }: Consumer,
  { url, key, prelude }: { url: string; key: string; prelude: string },
): Promise<string> {
  const readme = await readFile(join(root, 'clients/typescript/README.md'), 'utf8');
  const blocks = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code);
  const program = blocks.join('\n').replace('https://sop.example.com', url).replace('pds_…', key);
  await writeFile(join(folder, 'readme.ts'), `${prelude}\n${program}`);
  await compile(folder, 'readme.ts');
  return runOrThrow(process.execPath, ['readme.js'], { cwd: folder });
}
