/** The help texts, derived from the declarations of the commands. */
import { type ArgumentSpec, type Command, commonOptions, type OptionSpec } from './command.ts';
import { findCommand, formatArgument } from './parse.ts';

/** The help of a command, of a group of commands, or of the program. */
export function formatHelp(commands: readonly Command[], words: readonly string[]): string {
  const command = findCommand(commands, words);
  return command ? formatCommand(command) : formatList(commands, words);
}

function formatList(commands: readonly Command[], words: readonly string[]): string {
  const prefix = words.length === 0 ? '' : `${words.join(' ')} `;
  const shown = commands.filter(({ name, isHidden }) => !isHidden && name.startsWith(prefix));
  const lines = shown.map((command): [string, string] => [formatUsage(command), command.summary]);
  return `Usage: pds <command> [arguments] [options]

${formatColumns(lines)}

\`pds <command> --help\` explains a command. Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not logged in or not
permitted, 4 not found, 5 conflict, 6 service not reachable.`;
}

function formatCommand(command: Command): string {
  const { summary, details, arguments: specs = [], options = {}, takesAnything } = command;
  const parts = [`Usage: pds ${formatUsage(command)}${takesAnything ? '' : ' [options]'}`, `${summary}.`];
  if (details) parts.push(details);
  if (specs.length > 0)
    parts.push(`Arguments:\n${formatColumns(specs.map((spec) => [formatArgument(spec), describe(spec)]))}`);
  const all = takesAnything ? {} : { ...options, ...commonOptions };
  const lines = Object.entries(all).map(([name, spec]): [string, string] => [
    formatOption(name, spec),
    describe(spec),
  ]);
  if (lines.length > 0) parts.push(`Options:\n${formatColumns(lines)}`);
  return parts.join('\n\n');
}

function formatUsage({ name, arguments: specs = [] }: Command): string {
  const all = specs.map((spec) => {
    const text = `${formatArgument(spec)}${spec.isRepeated ? '…' : ''}`;
    return spec.isOptional ? `[${text}]` : text;
  });
  return [name, ...all].join(' ');
}

function formatOption(name: string, { type, value, choices }: OptionSpec): string {
  return type === 'boolean'
    ? `--${name}`
    : `--${name} ${value ?? choices?.join('|') ?? (type === 'integer' ? 'N' : 'TEXT')}`;
}

function describe({ description, isRepeated, choices }: ArgumentSpec | OptionSpec): string {
  const among = choices ? `: ${choices.join(', ')}` : '';
  return `${description}${among}${isRepeated ? ' (may be repeated)' : ''}`;
}

function formatColumns(lines: readonly (readonly [string, string])[]): string {
  const width = Math.min(Math.max(...lines.map(([first]) => first.length)), 44);
  return lines
    .map(([first, second]) =>
      first.length > width
        ? `  ${first}\n  ${' '.repeat(width)}  ${second}`
        : `  ${first.padEnd(width)}  ${second}`,
    )
    .join('\n');
}
