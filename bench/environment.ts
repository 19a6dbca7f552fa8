/** Describes the conditions of a run: date, commit, machine and load, without names and paths. */
import { execFileSync } from 'node:child_process';
import { availableParallelism, loadavg, totalmem } from 'node:os';
import { root } from './fixture.ts';

/** The conditions of a run. */
export interface RunInfo {
  date: string;
  commit: string;
  machine: { system: string; cores: number; memoryGb: number };
  versions: { node: string; mongodb: string };
  /** Load average of the last minute, before and after the run. */
  loadAverage: { before: number; after: number };
  /** Pairs of batches for each row. */
  batches: number;
}

/** Records the load average before a run. Returns a function that completes the record after the run. */
export function startRun(batches: number): (mongodb: string) => RunInfo {
  const before = getLoadAverage();
  return (mongodb) => ({
    date: new Date().toISOString(),
    commit: getCommit(),
    machine: {
      system: `${process.platform} ${process.arch}`,
      cores: availableParallelism(),
      memoryGb: Math.round(totalmem() / 2 ** 30),
    },
    versions: { node: process.version, mongodb },
    loadAverage: { before, after: getLoadAverage() },
    batches,
  });
}

function getLoadAverage(): number {
  return Math.round((loadavg()[0] ?? 0) * 100) / 100;
}

/** Returns the short hash of the commit, with a note if the code has uncommitted changes. */
function getCommit(): string {
  try {
    const git = (...words: string[]) =>
      execFileSync('git', ['--no-optional-locks', ...words], {
        cwd: root,
        stdio: ['ignore', 'pipe', 'ignore'],
      })
        .toString()
        .trim();
    const changed = git('status', '--porcelain', '--', 'libs', 'services', 'bench') !== '';
    return git('rev-parse', '--short', 'HEAD') + (changed ? ' with changes' : '');
  } catch {
    return 'unknown';
  }
}
