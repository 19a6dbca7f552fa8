/** Finds the command in the arguments of the program, and reads its arguments and options. */
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { type ArgumentSpec, type Command, commonOptions, type OptionSpec } from './command.ts';
import { UsageError } from './exit-codes.ts';

/** What the arguments ask for. */
export type Parsed =
  | { kind: 'help'; words: string[] }
  | { kind: 'version' }
  | {
      kind: 'run';
      command: Command;
      arguments: Record<string, unknown>;
      options: Record<string, unknown>;
      common: { url: string | undefined; isJson: boolean };
    };

/** Parses the arguments. Throws a `UsageError` that says what to do. */
export function parse(commands: readonly Command[], args: readonly string[]): Parsed {
  if (args[0] === '--version') return { kind: 'version' };
  const words = args.slice(0, findFirstOption(args));
  const command = findCommand(commands, words);
  const own = withoutVerbatim(args);
  const isHelp = args.length === 0 || own.includes('--help') || own.includes('-h');
  if (!command) {
    const isGroup = words.length === 0 || commands.some(({ name }) => name.startsWith(`${words.join(' ')} `));
    if (isHelp && isGroup) return { kind: 'help', words };
    throw unknownCommand(commands, words, args);
  }
  const rest = args.slice(command.name.split(' ').length);
  if (isHelp && !(command.takesAnything && rest[0] !== '--help'))
    return { kind: 'help', words: command.name.split(' ') };
  if (command.takesAnything)
    return {
      kind: 'run',
      command,
      arguments: { words: rest },
      options: {},
      common: { url: undefined, isJson: false },
    };
  const { values, positionals } = readOptions(command, rest);
  const { url, json } = values;
  return {
    kind: 'run',
    command,
    arguments: readArguments(command, positionals),
    options: readValues(command, values),
    common: { url: typeof url === 'string' ? url : undefined, isJson: json === true },
  };
}

/** The arguments before `--`. Those after it are no options. */
export function withoutVerbatim(args: readonly string[]): readonly string[] {
  const at = args.indexOf('--');
  return at < 0 ? args : args.slice(0, at);
}

/** The command whose words come first in the arguments; the longest if several do. */
export function findCommand(commands: readonly Command[], words: readonly string[]): Command | undefined {
  return commands
    .filter(({ name }) => name.split(' ').every((word, at) => words[at] === word))
    .sort((a, b) => b.name.length - a.name.length)[0];
}

function findFirstOption(args: readonly string[]): number {
  const at = args.findIndex((arg) => arg.startsWith('-'));
  return at < 0 ? args.length : at;
}

function unknownCommand(
  commands: readonly Command[],
  words: readonly string[],
  args: readonly string[],
): UsageError {
  const [first] = words;
  if (first === undefined) return new UsageError(`Put the command before the option ${args[0]}.`);
  const group = commands.filter(({ name, isHidden }) => !isHidden && name.startsWith(`${first} `));
  if (group.length > 0)
    return new UsageError(
      `${words[1] === undefined ? `A word is missing after "${first}"` : `Unknown command: ${words.slice(0, 2).join(' ')}`}.\n` +
        `The commands are: ${group.map(({ name }) => name).join(', ')}.`,
    );
  return new UsageError(`Unknown command: ${first}. Run \`pds --help\` for the list.`);
}

function readOptions({ name, options }: Command, args: readonly string[]) {
  const entries = Object.entries({ ...commonOptions, ...options }).map(([key, { type, isRepeated }]) => [
    key,
    { type: type === 'boolean' ? 'boolean' : 'string', multiple: isRepeated ?? false },
  ]);
  const config = {
    args: [...args],
    options: Object.fromEntries(entries) as NonNullable<ParseArgsConfig['options']>,
    allowPositionals: true,
  } as const;
  try {
    return parseArgs(config);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${message}\nRun \`pds ${name} --help\` for the options.`, { cause: error });
  }
}

function readArguments({ name, arguments: specs = [] }: Command, values: string[]): Record<string, unknown> {
  const left = [...values];
  const read = Object.fromEntries(
    specs.map((spec): [string, unknown] => {
      const value = spec.isRepeated ? left.splice(0) : left.shift();
      if (!spec.isOptional && (value === undefined || value.length === 0))
        throw new UsageError(
          `${formatArgument(spec)} is missing: ${spec.description}. See \`pds ${name} --help\`.`,
        );
      if (typeof value === 'string') checkChoice(formatArgument(spec), value, spec.choices);
      return [spec.name, value];
    }),
  );
  if (left.length > 0)
    throw new UsageError(`"${left[0]}" is one argument too many. See \`pds ${name} --help\`.`);
  return read;
}

function readValues({ options = {} }: Command, values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(options).map(([name, spec]) => [name, readValue(`--${name}`, spec, values[name])]),
  );
}

function readValue(name: string, { type, isRepeated, choices }: OptionSpec, value: unknown): unknown {
  if (type === 'boolean') return value === true;
  if (value === undefined) return isRepeated ? [] : undefined;
  for (const one of [value].flat()) checkChoice(name, String(one), choices);
  if (type === 'string') return value;
  if (!/^\d{1,9}$/.test(String(value))) throw new UsageError(`${name} must be a number, such as 10.`);
  return Number(value);
}

function checkChoice(name: string, value: string, choices: readonly string[] | undefined): void {
  if (choices && !choices.includes(value))
    throw new UsageError(`${name} cannot be "${value}". Use one of: ${choices.join(', ')}.`);
}

/** The name of an argument in texts, such as `FOLDER`. */
export function formatArgument({ name }: ArgumentSpec): string {
  return name.toUpperCase();
}
