/** How commands are declared. Parsing, help and completion are derived from the declarations. */
import type { Context } from './context.ts';

/** An argument without a name, by its position. */
export interface ArgumentSpec {
  name: string;
  description: string;
  /** Only the last argument may be repeated; then it takes all that are left. */
  isRepeated?: boolean;
  isOptional?: boolean;
  choices?: readonly string[];
  completes?: 'files';
}

/** An option, such as `--status draft`. */
export interface OptionSpec {
  type: 'string' | 'boolean' | 'integer';
  description: string;
  /** What the help shows for the value, such as `ID`. */
  value?: string;
  isRepeated?: boolean;
  choices?: readonly string[];
  completes?: 'files';
}

type Text<Spec> = Spec extends { choices: readonly (infer Choice)[] } ? Choice : string;

type ArgumentValue<Spec extends ArgumentSpec> = Spec extends { isRepeated: true }
  ? Text<Spec>[]
  : Text<Spec> | (Spec extends { isOptional: true } ? undefined : never);
type ArgumentValues<Specs extends readonly ArgumentSpec[]> = {
  [Spec in Specs[number] as Spec['name']]: ArgumentValue<Spec>;
};

type OptionValue<Spec extends OptionSpec> = Spec['type'] extends 'boolean'
  ? boolean
  : Spec extends { isRepeated: true }
    ? Text<Spec>[]
    : (Spec['type'] extends 'integer' ? number : Text<Spec>) | undefined;
type OptionValues<Specs extends Record<string, OptionSpec>> = {
  [Name in keyof Specs]: OptionValue<Specs[Name]>;
};

/** A command with its arguments and options. */
export interface CommandSpec<
  Arguments extends readonly ArgumentSpec[],
  Options extends Record<string, OptionSpec>,
> {
  /** Its words, such as `docs list`. */
  name: string;
  /** One line for the list of commands. */
  summary: string;
  /** More for its own help. */
  details?: string;
  arguments?: Arguments;
  options?: Options;
  /** Whether everything after the name is an argument, also what looks like an option. */
  takesAnything?: boolean;
  /** Whether help and completion leave it out. */
  isHidden?: boolean;
  /** Runs the command. Resolves with its exit code, 0 if there is none. */
  run(
    context: Context,
    input: { arguments: ArgumentValues<Arguments>; options: OptionValues<Options> },
  ): Promise<number | undefined>;
}

/** A command whose arguments and options have any names. */
export interface Command
  extends Omit<CommandSpec<readonly ArgumentSpec[], Record<string, OptionSpec>>, 'run'> {
  run(
    context: Context,
    input: { arguments: Record<string, unknown>; options: Record<string, unknown> },
  ): Promise<number | undefined>;
}

/** Declares a command. */
export function command<
  const Arguments extends readonly ArgumentSpec[] = [],
  const Options extends Record<string, OptionSpec> = Record<never, never>,
>(spec: CommandSpec<Arguments, Options>): Command {
  // the parser gives each command the values that its declaration describes
  return spec as unknown as Command;
}

/** Options that every command has. */
export const commonOptions: Record<string, OptionSpec> = {
  url: {
    type: 'string',
    value: 'URL',
    description: 'The address of the service. Default: $PDS_URL, else that of `pds login`',
  },
  json: { type: 'boolean', description: 'Print JSON to stdout, and errors as JSON to stderr' },
  help: { type: 'boolean', description: 'Explain the command' },
};
