/** Runs one command line, and turns errors into messages and exit codes. */
import { apiVersion } from '../generated/operations.ts';
import { commands } from './commands.ts';
import { createContext, type Io } from './context.ts';
import { exitCodes, formatError, toErrorFields, toExitCode, UsageError } from './exit-codes.ts';
import { formatHelp } from './help.ts';
import { parse, withoutVerbatim } from './parse.ts';

/** Runs the command in the arguments. Resolves with the exit code; never rejects. */
export async function runCommandLine(args: readonly string[], io: Io): Promise<number> {
  // also known if the arguments are wrong
  const isJson = withoutVerbatim(args).includes('--json');
  try {
    const parsed = parse(commands, args);
    if (parsed.kind === 'version') io.stdout.write(`${apiVersion}\n`);
    else if (parsed.kind === 'help') io.stdout.write(`${formatHelp(commands, parsed.words)}\n`);
    else {
      const context = createContext(io, parsed.common);
      try {
        return (await parsed.command.run(context, parsed)) ?? exitCodes.ok;
      } finally {
        context.progress();
      }
    }
    return exitCodes.ok;
  } catch (error) {
    if (io.signal.aborted) return exitCodes.interrupted;
    const { note } = createContext(io, { url: undefined, isJson });
    if (isJson) note(JSON.stringify({ error: toErrorFields(error) }));
    else note(error instanceof UsageError ? error.message : `Error: ${formatError(error)}`);
    return toExitCode(error);
  }
}
