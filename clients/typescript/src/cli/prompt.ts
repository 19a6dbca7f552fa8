/** Asks the user, and reads secrets that must not be arguments, because other users see those in the process list. */
import { createInterface } from 'node:readline/promises';
import { addAbortSignal, Writable } from 'node:stream';
import { text as readAll } from 'node:stream/consumers';
import type { Io } from './context.ts';
import { CommandError } from './exit-codes.ts';

/** Asks for one line on the terminal. */
export async function ask(io: Io, question: string, { isHidden = false } = {}): Promise<string> {
  const hidden = new Writable({ write: (_chunk, _encoding, done) => done() });
  if (isHidden) io.stderr.write(question);
  const lines = createInterface({ input: io.stdin, output: isHidden ? hidden : io.stderr, terminal: true });
  const interruption = new AbortController();
  lines.on('SIGINT', () => interruption.abort());
  try {
    const signal = AbortSignal.any([io.signal, interruption.signal]);
    const line = await lines.question(isHidden ? '' : question, { signal });
    return isHidden ? line : line.trim();
  } catch (error) {
    if (interruption.signal.aborted) throw new CommandError('Interrupted.', 130, { cause: error });
    throw error;
  } finally {
    lines.close();
    if (isHidden) io.stderr.write('\n');
  }
}

/** Reads a secret with its spaces: asks on a terminal, else reads all of stdin. Rejects if it is empty. */
export async function readSecret(io: Io, name: string): Promise<string> {
  const secret = io.stdin.isTTY
    ? await ask(io, `${name}: `, { isHidden: true })
    : (await readAll(addAbortSignal(io.signal, io.stdin))).replace(/\r?\n$/, '');
  if (secret.trim() === '') throw new CommandError(`${name} is empty. Type it, or pass it through stdin.`, 2);
  return secret;
}
