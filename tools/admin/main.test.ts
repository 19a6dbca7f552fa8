/** Tests that the command for operators explains its commands and rejects unknown ones. */
import { expect, test } from '@jest/globals';
import { runScript } from '../../tests/programs.ts';

const commands = [
  'mongo-users',
  'replica-set',
  'dead-letters',
  're-encrypt',
  'verify',
  'identity',
  'compose-secrets',
  'cluster-secrets',
];

async function runAdmin(...args: string[]) {
  const { exited, printed } = runScript('../tools/admin/main.ts', args, {});
  return { code: await exited, text: printed() };
}

test('admin --help lists all commands', async () => {
  const { code, text } = await runAdmin('--help');
  expect(code).toBe(0);
  for (const command of commands) expect(text).toMatch(new RegExp(`^  ${command} +\\S`, 'm'));
});

test.each(commands)('admin %s --help explains the command', async (command) => {
  const { code, text } = await runAdmin(command, '--help');
  expect([code, text]).toEqual([0, expect.stringContaining(`npm run admin -- ${command} `)]);
});

test('admin rejects an unknown command and lists the known ones', async () => {
  const { code, text } = await runAdmin('toString');
  expect([code, text]).toEqual([1, expect.stringMatching(/^Unknown command: toString\n[\s\S]*dead-letters/)]);
});

test('an admin command without its settings explains what it needs', async () => {
  const { code, text } = await runAdmin('re-encrypt');
  expect([code, text]).toEqual([1, expect.stringMatching(/^MONGODB_URI and ENCRYPTION_KEYS are required/)]);
});
