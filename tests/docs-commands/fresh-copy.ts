/** A fresh copy of the project, as a clone would be, with what you are editing now. */
import { execFile } from 'node:child_process';
import { cp, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = new URL('../..', import.meta.url).pathname;

/** Copies every file that git knows or would add to a new folder, and the installed packages; gives the folder. */
export async function createFreshCopy(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'pds-docs-'));
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const { stdout } = await run('git', list, { cwd: root, maxBuffer: 16 * 1024 * 1024 });
  const files = new Set(stdout.split('\0').filter((path) => path !== ''));
  // a file that was deleted and not committed yet is still listed
  for (const path of files)
    await cp(join(root, path), join(folder, path)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
  // hard links where that is possible: nothing writes into these files
  const modules = [join(root, 'node_modules'), join(folder, 'node_modules')];
  await run('cp', ['-al', ...modules]).catch(() => run('cp', ['-a', ...modules]));
  return folder;
}
