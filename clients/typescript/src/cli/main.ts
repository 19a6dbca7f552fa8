#!/usr/bin/env node
/** The program `pds`. */
import { exitCodes } from './exit-codes.ts';
import { runCommandLine } from './run.ts';

const interruption = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.on(name, () => {
    // the second signal ends the program at once
    if (interruption.signal.aborted) process.exit(exitCodes.interrupted);
    interruption.abort(new Error('Interrupted.'));
  });
// the reader of a pipe, such as `head`, may end first; a command that writes to the service must still finish
for (const stream of [process.stdout, process.stderr])
  stream.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE') return;
    if (stream === process.stdout) process.stderr.write(`Error: Cannot write the output: ${message}\n`);
    process.exit(exitCodes.failed);
  });

process.exitCode = await runCommandLine(process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  cwd: process.cwd(),
  signal: interruption.signal,
});
