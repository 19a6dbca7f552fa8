/** Tests where files are written. */
import { execFile } from 'node:child_process';
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Download } from '../download.ts';
import type { Context } from './context.ts';
import { replaceFile, saveDownload } from './files.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pds-files-'));
});
afterEach(() => rm(folder, { recursive: true }));

const save = (path: string, content: string) => {
  const download = { name: 'ignored', stream: new Blob([content]).stream() } as Download;
  return saveDownload({ cwd: folder } as Context, download, path);
};

describe.each([
  ['replaceFile', replaceFile],
  ['saveDownload', save],
])('writing with %s', (_, write) => {
  test('a symbolic link stays, and its file is replaced', async () => {
    await mkdir(join(folder, 'real'));
    const [target, link] = [join(folder, 'real', 'file'), join(folder, 'link')];
    await writeFile(target, 'old');
    await symlink(target, link);
    await write(link, 'new');
    expect((await lstat(link)).isSymbolicLink()).toBe(true);
    expect(await readFile(target, 'utf8')).toBe('new');
    expect(await readdir(folder)).toEqual(['link', 'real']);
    expect(await readdir(join(folder, 'real'))).toEqual(['file']);
  });

  test('a replaced file keeps its mode, and a new one gets the usual mode', async () => {
    const paths = ['private', 'shared', 'other', 'new'].map((name) => join(folder, name));
    const [own = '', shared = '', other = '', created = ''] = paths;
    for (const path of [own, shared, other]) await writeFile(path, 'old');
    await chmod(own, 0o600);
    await chmod(shared, 0o666);
    for (const path of [own, shared, created]) await write(path, 'new');
    const modes = (await Promise.all(paths.map((path) => stat(path)))).map(({ mode }) => mode & 0o777);
    expect(modes).toEqual([0o600, 0o666, modes[2], modes[2]]);
  });

  test('a folder is refused, and nothing is written', async () => {
    await expect(write(folder, 'new')).rejects.toThrow(`${folder} is a folder. Name a file.`);
    expect(await readdir(folder)).toEqual([]);
  });

  test('a reader of a pipe gets the content, and the pipe stays', async () => {
    const pipe = join(folder, 'pipe');
    await promisify(execFile)('mkfifo', [pipe]);
    const [{ stdout }] = await Promise.all([
      promisify(execFile)('cat', [pipe], { timeout: 10_000 }),
      write(pipe, 'new'),
    ]);
    expect(stdout).toBe('new');
    expect((await lstat(pipe)).isFIFO()).toBe(true);
  });
});
