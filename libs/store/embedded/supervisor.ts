/** Supervises one mongod: stops it when its owner process ends, which closes the supervisor's stdin. */
import { spawn } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { ownerFile } from './data-dir.ts';
import { type ProcessMark, readProcessMark } from './process-mark.ts';

/** The options of the supervisor, as JSON in its only argument. */
export type SupervisorOptions = {
  binary: string;
  args: string[];
  dataDir: string;
  /** Whether to remove the data folder at the end, because it is temporary. */
  removeAtEnd: boolean;
  /** The owner process. */
  main: ProcessMark;
};

/**
 * A report on stdout, one JSON line each: first `mongod` (its pid), at the end `exit` (its code, null after a
 * signal).
 */
export type SupervisorReport = { mongod: number } | { exit: number | null };

/** The time limit for mongod to flush its data and exit, ms: on request, and after its owner has ended. */
const stopMs = 15_000;
const ownerExitedMs = 3_500;

if (process.argv[1] === import.meta.filename) await supervise(JSON.parse(process.argv[2] ?? '{}'));

async function supervise({ binary, args, dataDir, removeAtEnd, main }: SupervisorOptions): Promise<void> {
  const mongod = spawn(binary, args, { stdio: 'ignore' });
  let killer: NodeJS.Timeout | undefined;
  const stop = (limitMs: number) => {
    // temporary data need not be flushed
    mongod.kill(removeAtEnd ? 'SIGKILL' : 'SIGTERM');
    killer ??= setTimeout(() => mongod.kill('SIGKILL'), limitMs);
  };

  // the owner handles Ctrl-C
  for (const name of ['SIGINT', 'SIGHUP'] as const) process.on(name, () => {});
  process.on('SIGTERM', () => stop(stopMs));
  process.stdout.on('error', () => {});
  process.stdin.on('data', () => stop(stopMs));
  process.stdin.on('error', () => {});
  process.stdin.on('close', () => stop(ownerExitedMs));

  const exit = new Promise<number | null>((done) => {
    mongod.on('exit', done);
    mongod.on('error', () => done(127));
  });
  if (mongod.pid !== undefined) {
    const marks = {
      main,
      supervisor: await readProcessMark(process.pid),
      mongod: await readProcessMark(mongod.pid),
    };
    await writeFile(ownerFile(dataDir, mongod.pid), JSON.stringify(marks)).catch(() => {});
    report({ mongod: mongod.pid });
  }
  const code = await exit;
  clearTimeout(killer);
  if (mongod.pid !== undefined) await rm(ownerFile(dataDir, mongod.pid), { force: true });
  if (removeAtEnd) await rm(dataDir, { recursive: true, force: true });
  report({ exit: code }, () => process.exit(0));
}

function report(line: SupervisorReport, then = () => {}): void {
  process.stdout.write(`${JSON.stringify(line)}\n`, then);
}
