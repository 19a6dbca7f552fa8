/** Tests the candidates of shell completion. */
import { expect, test } from '@jest/globals';
import { commands } from './commands.ts';
import { complete } from './completion.ts';

/** The candidates for the last word of a line; the line begins after `pds `. */
const candidates = (line: string) =>
  complete(commands, line.split(' ')).map((one) => (one === 'files' ? ':files' : one.word));

test.each([
  ['do', ['docs']],
  ['docs p', ['publish']],
  ['docs nope ', []],
  ['ops users ', ['invite', 'reset-password']],
  ['docs list --s', ['--status']],
  ['docs list --status ', ['draft', 'published', 'archived']],
  ['docs list --status p', ['published']],
  ['docs list --query ', []],
  ['docs export some-id --format m', ['markdown']],
  ['docs export --output ', [':files']],
  ['docs export --format word ', []],
  ['pull ', [':files']],
  ['push a b ', [':files']],
  ['ops organizations plan ', []],
  ['ops organizations plan some-id --ops-url http://x s', ['scale']],
  ['ops re-encrypt ', []],
  ['completion ', ['bash', 'zsh', 'fish']],
])('"%s" is completed', (line, expected) => {
  expect(candidates(line)).toEqual(expected);
});

test('the first word is any command or group, but not a hidden one', () => {
  expect(candidates('')).toEqual(
    expect.arrayContaining(['login', 'docs', 'pull', 'push', 'webhooks', 'ops']),
  );
  expect(candidates('__')).toEqual([]);
});

test('each option of a command is a candidate, with its description', () => {
  expect(candidates('docs list --')).toEqual(
    expect.arrayContaining(['--status', '--department', '--query', '--limit', '--json', '--help']),
  );
  expect(complete(commands, ['docs', 'li'])).toEqual([
    { word: 'list', description: 'List documents, most recently updated first' },
  ]);
});
