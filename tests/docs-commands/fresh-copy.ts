/** Copies the project like a fresh clone, but with uncommitted changes. */
import { execFile } from 'node:child_process';
import { cp, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = new URL('../..', import.meta.url).pathname;

/** Copies all files that git does not ignore, and the installed packages, to a new folder. Returns the folder. */
export async function createFreshCopy(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'pds-docs-'));
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const { stdout } = await run('git', list, { cwd: root, maxBuffer: 16 * 1024 * 1024 });
  const files = new Set(stdout.split('\0').filter((path) => path !== ''));
  // git still lists a deleted file until the deletion is committed
  for (const path of files)
    await cp(join(root, path), join(folder, path)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
  // hard links if possible: nothing writes to these files
  const modules = [join(root, 'node_modules'), join(folder, 'node_modules')];
  await run('cp', ['-al', ...modules]).catch(() => run('cp', ['-a', ...modules]));
  return folder;
}
