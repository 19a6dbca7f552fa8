/** The secrets of compose.yaml are created once, and each container gets only its own. */
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { contracts } from '../../services/contracts.ts';
import { writeComposeSecrets } from './compose-secrets.ts';

let folder: string;
const read = (path: string) => readFile(join(folder, path), 'utf8');
const listNames = async (path: string) => (await read(path)).match(/^\w+(?==)/gm);

async function readAll(): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  return Object.fromEntries(
    await Promise.all(paths.map(async (path) => [path, await readFile(path, 'utf8')])),
  );
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pds-secrets-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('each service gets its own MongoDB user, and only identity OPS_TOKEN', async () => {
  await writeComposeSecrets(folder);
  for (const { name } of contracts) {
    const common = ['MONGODB_URI', 'AMQP_URL', 'ENCRYPTION_KEYS'];
    const own = name === 'identity' ? [...common, 'OPS_TOKEN'] : common;
    expect([name, await listNames(`${name}/settings.env`)]).toEqual([name, own]);
    expect(await read(`${name}/settings.env`)).toContain(`MONGODB_URI=mongodb://${name}:`);
  }
  const passwords = contracts.map(({ name }) => `${name.toUpperCase().replaceAll('-', '_')}_PASSWORD`);
  const database = ['ADMIN_PASSWORD', 'MONGODB_ADMIN_URI', ...passwords];
  expect(await listNames('database/settings.env')).toEqual(database);
});

test('the files of secrets are readable by one user only', async () => {
  await writeComposeSecrets(folder);
  const paths = Object.keys(await readAll());
  expect(paths).toHaveLength(contracts.length + 4);
  for (const path of paths) expect([path, (await stat(path)).mode & 0o077]).toEqual([path, 0]);
});

test('existing secrets stay unchanged, and lost files are written again', async () => {
  const created = await writeComposeSecrets(folder);
  expect(created).toContain('ENCRYPTION_KEYS');
  const before = await readAll();
  await rm(join(folder, 'documents'), { recursive: true });
  expect(await writeComposeSecrets(folder)).toEqual([]);
  expect(await readAll()).toEqual(before);
});

test('a secret that an earlier version did not have is added', async () => {
  await writeComposeSecrets(folder);
  const { EXPORT_PASSWORD, ...rest } = JSON.parse(await read('all/secrets.json'));
  await writeFile(join(folder, 'all/secrets.json'), JSON.stringify(rest));
  expect(await writeComposeSecrets(folder)).toEqual(['EXPORT_PASSWORD']);
  expect(JSON.parse(await read('all/secrets.json'))).toEqual({
    ...rest,
    EXPORT_PASSWORD: expect.any(String),
  });
  expect(await read('export/settings.env')).not.toContain(EXPORT_PASSWORD);
});

test('a damaged file of secrets is an error and is not replaced', async () => {
  await writeComposeSecrets(folder);
  await writeFile(join(folder, 'all/secrets.json'), '{"ENCRYPTION_KEYS": ');
  await expect(writeComposeSecrets(folder)).rejects.toThrow();
  expect(await read('all/secrets.json')).toBe('{"ENCRYPTION_KEYS": ');
});
