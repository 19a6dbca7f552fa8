/** Tests reading the arguments of `pds`, and its help. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { type Command, command } from './command.ts';
import { commands } from './commands.ts';
import { UsageError } from './exit-codes.ts';
import { formatHelp } from './help.ts';
import { parse } from './parse.ts';

const done = async () => undefined;
const samples: Command[] = [
  command({
    name: 'docs list',
    summary: 'List',
    options: {
      status: { type: 'string', choices: ['draft', 'published'], isRepeated: true, description: 'Status' },
      limit: { type: 'integer', description: 'Limit' },
      all: { type: 'boolean', description: 'All' },
    },
    run: done,
  }),
  command({ name: 'docs get', summary: 'Get', arguments: [{ name: 'id', description: 'Id' }], run: done }),
  command({
    name: 'push',
    summary: 'Push',
    arguments: [{ name: 'path', description: 'Folder', isRepeated: true }],
    run: done,
  }),
  command({
    name: 'admin',
    summary: 'Admin',
    arguments: [{ name: 'words', description: 'Words', isOptional: true, isRepeated: true }],
    takesAnything: true,
    run: done,
  }),
];
const read = (line: string) => parse(samples, line === '' ? [] : line.split(' '));

describe('arguments and options', () => {
  test('options have the types of their declarations', () => {
    const parsed = read('docs list --status draft --status published --limit 3 --json --url http://x');
    expect(parsed).toMatchObject({
      kind: 'run',
      options: { status: ['draft', 'published'], limit: 3, all: false },
      common: { url: 'http://x', isJson: true },
    });
    expect(read('docs list')).toMatchObject({ options: { status: [], limit: undefined, all: false } });
  });

  test('arguments have positions, and the last one can take the rest', () => {
    expect(read('docs get 7')).toMatchObject({ arguments: { id: '7' } });
    expect(read('push a b')).toMatchObject({ arguments: { path: ['a', 'b'] } });
    expect(read('push -- --help -h')).toMatchObject({ arguments: { path: ['--help', '-h'] } });
  });

  test('a command that takes anything gets what looks like options', () => {
    expect(read('admin list --all -x')).toMatchObject({ arguments: { words: ['list', '--all', '-x'] } });
    expect(read('admin --help')).toEqual({ kind: 'help', words: ['admin'] });
    expect(read('admin list --help')).toMatchObject({ arguments: { words: ['list', '--help'] } });
  });

  test.each([
    ['', { kind: 'help', words: [] }],
    ['--help', { kind: 'help', words: [] }],
    ['docs --help', { kind: 'help', words: ['docs'] }],
    ['docs get --help', { kind: 'help', words: ['docs', 'get'] }],
    ['--version', { kind: 'version' }],
  ])('"%s" asks for a text', (line, expected) => {
    expect(read(line)).toEqual(expected);
  });

  test.each([
    ['docs', 'A word is missing after "docs".\nThe commands are: docs list, docs get.'],
    ['docs lst', 'Unknown command: docs lst.\nThe commands are: docs list, docs get.'],
    ['nope', 'Unknown command: nope. Run `pds --help`'],
    ['nope --help', 'Unknown command: nope'],
    ['--json docs list', 'Put the command before the option --json.'],
    ['docs get', 'ID is missing: Id. See `pds docs get --help`.'],
    ['docs get 1 2', '"2" is one argument too many.'],
    ['push', 'PATH is missing'],
    ['docs list --nope', "Unknown option '--nope'"],
    ['docs list --limit', "'--limit <value>' argument missing"],
    ['docs list --limit ten', '--limit must be a number'],
    ['docs list --limit -1', "'--limit' argument is ambiguous"],
    ['docs list --status wrong', '--status cannot be "wrong". Use one of: draft, published.'],
  ])('"%s" is explained', (line, message) => {
    expect(() => read(line)).toThrow(UsageError);
    expect(() => read(line)).toThrow(message);
  });
});

describe('the commands of pds', () => {
  test('names are unique, and no name of a command is the group of others', () => {
    const names = commands.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => names.some((other) => other.startsWith(`${name} `)))).toEqual([]);
  });

  test('docs/cli.md names every command', () => {
    const guide = readFileSync(new URL('../../../../docs/cli.md', import.meta.url), 'utf8');
    const shown = commands.filter(({ isHidden }) => !isHidden).map(({ name }) => name);
    expect(shown.filter((name) => !guide.includes(`pds ${name}`))).toEqual([]);
  });

  test('the help lists commands, and theirs all arguments and options', () => {
    const list = formatHelp(commands, []);
    for (const one of commands.filter(({ isHidden }) => !isHidden)) {
      expect(list).toContain(`  ${one.name}`);
      const help = formatHelp(commands, one.name.split(' '));
      expect(help).toContain(`Usage: pds ${one.name}`);
      for (const name of Object.keys(one.options ?? {})) expect(help).toContain(`--${name}`);
      for (const { description } of one.arguments ?? []) expect(help).toContain(description);
    }
    expect(list).not.toContain('__complete');
    expect(formatHelp(commands, ['docs'])).not.toContain('webhooks');
  });
});
