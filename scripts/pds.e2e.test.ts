/** Tests `npm run pds`, which runs the command line from its sources. */
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

test('npm run pds finds files from the folder of the user', async () => {
  const cwd = resolve(import.meta.dirname, '../docs/audit-log');
  const args = ['run', '--silent', 'pds', '--', 'audit', 'verify', 'example.jsonl', '--from', '1'];
  const { stdout } = await promisify(execFile)('npm', args, { cwd });
  expect(stdout).toContain('are as exported');
});
