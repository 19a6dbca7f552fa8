/** Runs `npm start` for tests, as a separate process with its own data folder. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { until } from '#libs/testing';

/** A running process with all services. */
export interface LocalRun {
  origin: string;
  process: ChildProcess;
  /** Everything printed so far. */
  printed(): string;
  /** Resolves with the exit code (null after a signal). */
  exited: Promise<number | null>;
}

/** Starts all services on free ports. Resolves when they are ready. */
export async function localRun(dataDir: string, environment: Record<string, string> = {}): Promise<LocalRun> {
  const run = spawnLocal(dataDir, environment);
  const ended = run.exited.then((code) => {
    throw new Error(`The run ended with ${code}:\n${run.printed()}`);
  });
  const origin = await Promise.race([
    until('a ready run', async () => /API +(http:\/\/[\d.:]+)/.exec(run.printed())?.[1]),
    ended,
  ]);
  ended.catch(() => undefined);
  return { ...run, origin };
}

/** Starts all services without waiting, for example to read the error when they cannot start. */
export function spawnLocal(
  dataDir: string,
  environment: Record<string, string> = {},
): Omit<LocalRun, 'origin'> {
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', 'tools/local-run/main.ts'],
    {
      cwd: new URL('..', import.meta.url).pathname,
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        PORT: '0',
        MANAGEMENT_PORT: '0',
        DATA_DIR: dataDir,
        LOG_LEVEL: 'warn',
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
  }
  const exited = once(child, 'exit').then(([code]) => code);
  return { process: child, printed: () => text, exited };
}
