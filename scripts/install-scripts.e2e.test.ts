/** Tests that npm does not run the install scripts of dependencies, which could run anything on this machine. */
import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

const npmrc = join(import.meta.dirname, '..', '.npmrc');
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pds-npm-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const npm = (cwd: string, ...args: string[]) =>
  promisify(execFile)('npm', [...args, '--offline', '--cache', join(folder, 'cache')], { cwd });

async function writePackage(
  name: string,
  scripts: Record<string, string>,
  dependencies = {},
): Promise<string> {
  const path = join(folder, name);
  await mkdir(path);
  await writeFile(
    join(path, 'package.json'),
    JSON.stringify({ name, version: '1.0.0', scripts, dependencies }),
  );
  return path;
}

test('scripts of dependencies do not run, those of the project do', async () => {
  const touch = (name: string) => `node -e "require('fs').writeFileSync('${join(folder, name)}', '')"`;
  const hostile = {
    preinstall: touch('preinstall'),
    install: touch('install'),
    postinstall: touch('postinstall'),
  };
  await npm(await writePackage('dependency', hostile), 'pack', '--pack-destination', folder);
  const tarball = `file:${join(folder, 'dependency-1.0.0.tgz')}`;
  const project = await writePackage('project', { start: touch('start') }, { dependency: tarball });
  await copyFile(npmrc, join(project, '.npmrc'));
  await npm(project, 'install');
  await npm(project, 'ci');
  expect(await readdir(join(project, 'node_modules', 'dependency'))).toEqual(['package.json']);
  await npm(project, 'start');
  const names = ['preinstall', 'install', 'postinstall', 'start'];
  expect((await readdir(folder)).filter((name) => names.includes(name))).toEqual(['start']);
});
