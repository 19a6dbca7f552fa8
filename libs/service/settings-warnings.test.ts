/** Tests for the warnings of unsafe settings. */
import { expect, test } from '@jest/globals';
import { createLog } from './log.ts';
import { commonSettings } from './settings.ts';
import { warnOfRiskySettings } from './settings-warnings.ts';

function getWarnings(TRUSTED_PROXIES: string): unknown[] {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const environment = { MONGODB_URI: 'mongodb://x', ENCRYPTION_KEYS: `${'a'.repeat(42)}A=`, TRUSTED_PROXIES };
  warnOfRiskySettings(
    commonSettings.parse(environment),
    createLog({ level: 'warn', format: 'json', destination }),
  );
  return lines.map((line) => JSON.parse(line));
}

test('trusted proxies that contain all addresses are warned of', () => {
  expect(getWarnings('10.0.0.0/8,0.0.0.0/0,::/0')).toMatchObject([
    { network: '0.0.0.0/0', msg: expect.stringContaining('TRUSTED_PROXIES') },
    { network: '::/0' },
  ]);
  expect(getWarnings('10.0.0.0/8,fd00::/10,127.0.0.1')).toEqual([]);
});
