/** Tests where credentials are stored, and which ones are used. */
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import {
  getCredentialsFile,
  readCredentials,
  readStoredCredentials,
  writeStoredCredentials,
} from './credentials.ts';

let folder: string;
let env: Record<string, string>;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pds-config-'));
  env = { XDG_CONFIG_HOME: folder };
});
afterEach(() => rm(folder, { recursive: true }));

const stored = { url: 'https://sop.example.com', key: 'pds_stored' };

test('only the user can read the file and its folder', async () => {
  const file = await writeStoredCredentials(env, stored);
  expect(file).toBe(join(folder, 'pds', 'credentials.json'));
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await stat(join(folder, 'pds'))).mode & 0o777).toBe(0o700);
  await writeFile(file, '', { mode: 0o644 });
  await writeStoredCredentials(env, stored);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readStoredCredentials(env)).toEqual(stored);
});

test('the file is in the home folder if no other place is set', () => {
  expect(getCredentialsFile({ HOME: '/home/ada' })).toBe('/home/ada/.config/pds/credentials.json');
  const empty = { PDS_CONFIG_DIR: '', XDG_CONFIG_HOME: '', HOME: '' };
  expect(getCredentialsFile(empty)).toBe(join(homedir(), '.config/pds/credentials.json'));
});

test('the environment takes precedence over the file', async () => {
  await writeStoredCredentials(env, stored);
  expect(await readCredentials(env)).toEqual(stored);
  const both = { ...env, PDS_URL: 'https://other.example/api/v1', PDS_KEY: 'pds_env' };
  expect(await readCredentials(both)).toEqual({ url: 'https://other.example', key: 'pds_env' });
  expect(await readCredentials({ ...env, PDS_KEY: 'pds_env' })).toEqual({ ...stored, key: 'pds_env' });
  const wrong = readCredentials({ ...env, PDS_KEY: 'pds_ä' });
  await expect(wrong).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringContaining('Check PDS_KEY'),
  });
  expect(await readCredentials(both, 'https://third.example')).toMatchObject({
    url: 'https://third.example',
  });
});

test('the stored key is sent only to its own service', async () => {
  await writeStoredCredentials(env, stored);
  await expect(readCredentials(env, 'https://other.example')).rejects.toThrow(
    'There is no API key for https://other.example. Run `pds login --url https://other.example`',
  );
  await expect(readCredentials({ ...env, PDS_URL: 'https://other.example' })).rejects.toThrow('no API key');
  expect(await readCredentials(env, 'https://sop.example.com/api/v1/')).toEqual(stored);
});

test('an error does not show the password of a URL', async () => {
  const message = '"https://sop.example.com" is not the URL of a service';
  await expect(readCredentials(env, 'https://ada:secret@sop.example.com')).rejects.toThrow(message);
});

test('missing and damaged credentials are explained', async () => {
  await expect(readCredentials(env)).rejects.toThrow('Not logged in. Run `pds login`');
  const file = await writeStoredCredentials(env, stored);
  await writeFile(file, '{"url":3}');
  await expect(readCredentials(env)).rejects.toThrow('is damaged. Run `pds login`');
});
