/** Runs docker and docker compose for tests. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const root = join(import.meta.dirname, '..', '..');

/** Runs docker in the folder of compose.yaml and returns what it printed. Rejects if it fails. */
export async function docker(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  const child = spawn('docker', args, {
    cwd: root,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const code = new Promise<number>((done, reject) => {
    child.on('error', reject);
    child.on('close', (exit) => done(exit ?? 1));
  });
  // a program that does not run rejects the first promise of this list
  const [exit, out, errors] = await Promise.all([code, text(child.stdout), text(child.stderr)]);
  if (exit !== 0)
    throw new Error(`docker ${args.join(' ')} exited with ${exit}:\n${(errors + out).slice(-4_000)}`);
  return out;
}

/** Runs `docker compose` with the files, project name and variables of a test. */
export type Compose = (...args: string[]) => Promise<string>;

/** Creates the command for a project. `files` are added to compose.yaml. */
export function createCompose(
  project: string,
  files: readonly string[],
  environment: Readonly<Record<string, string>>,
): Compose {
  const options = ['compose.yaml', ...files].flatMap((file) => ['--file', file]);
  // without the reader's own .env
  const base = [
    'compose',
    '--progress',
    'quiet',
    '--env-file',
    '/dev/null',
    '--project-name',
    project,
    ...options,
  ];
  return (...args) => docker([...base, ...args], environment);
}
