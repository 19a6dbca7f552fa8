/** Starts programs for tests, and collects what they print. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** What a program printed, and its exit code. */
export interface ProgramOutput {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A running program. */
export interface StartedProgram {
  /** Its output so far. */
  printed(): ProgramOutput;
  stop(signal?: NodeJS.Signals): void;
  /** Resolves when it has ended. */
  ended: Promise<ProgramOutput>;
}

/** How a program is started. */
export interface StartOptions {
  cwd?: string;
  env?: Record<string, string | undefined>;
  /** What it reads from stdin; nothing by default. */
  input?: string;
}

/** Starts a program. It gets only the PATH and the given environment. */
export function start(
  file: string,
  args: readonly string[],
  { cwd, env, input = '' }: StartOptions = {},
): StartedProgram {
  const child = spawn(file, args, { ...(cwd && { cwd }), env: { PATH: process.env.PATH, ...env } });
  const printed: ProgramOutput = { code: null, stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (part) => (printed.stdout += part));
  child.stderr.setEncoding('utf8').on('data', (part) => (printed.stderr += part));
  // a program that does not read its input may end before
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const ended = once(child, 'close').then(([code]) => ({ ...printed, code }));
  return { printed: () => ({ ...printed }), stop: (signal = 'SIGTERM') => void child.kill(signal), ended };
}

/** Runs a program to its end. Rejects if its exit code is not 0. */
export async function runOrThrow(
  file: string,
  args: readonly string[],
  options?: StartOptions,
): Promise<string> {
  const { code, stdout, stderr } = await start(file, args, options).ended;
  if (code === 0) return stdout;
  throw new Error(`${file} ${args.join(' ')} ended with ${code}:\n${stdout}\n${stderr}`);
}

/** The PATH of a user's terminal: these folders, and those of the machine without the programs of this project. */
export function createUserPath(folders: readonly string[] = []): string {
  const others = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !folder.includes('node_modules'));
  return [...folders, ...others].join(delimiter);
}

/** The Node of the machine, which may be older than that of the project; undefined if there is none. */
export function findOtherNode(): string | undefined {
  const folders = createUserPath().split(delimiter);
  return folders.map((folder) => join(folder, 'node')).find((file) => existsSync(file));
}
