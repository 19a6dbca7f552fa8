/** Facts that belong beside every number: when, which commit, which machine; no names and no paths. */
import { execFileSync } from 'node:child_process';
import { availableParallelism, loadavg, totalmem } from 'node:os';
import { root } from './fixture.ts';

/** The circumstances of one run. */
export interface Facts {
  date: string;
  commit: string;
  machine: { system: string; cores: number; memoryGb: number };
  versions: { node: string; mongodb: string };
  /** Load average of the last minute, before and after. */
  load: { before: number; after: number };
  /** Pairs of batches for each row. */
  batches: number;
}

/** Notes the load before a run; gives a function that takes down the rest after it. */
export function facts(batches: number): (mongodb: string) => Facts {
  const before = load();
  return (mongodb) => ({
    date: new Date().toISOString(),
    commit: commit(),
    machine: {
      system: `${process.platform} ${process.arch}`,
      cores: availableParallelism(),
      memoryGb: Math.round(totalmem() / 2 ** 30),
    },
    versions: { node: process.version, mongodb },
    load: { before, after: load() },
    batches,
  });
}

function load(): number {
  return Math.round((loadavg()[0] ?? 0) * 100) / 100;
}

/** The short name of the commit, and whether there are changes on top of it. */
function commit(): string {
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
