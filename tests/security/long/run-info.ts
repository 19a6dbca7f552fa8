/** Describes the conditions of a long run: date, commit and machine, without names and paths. */
import { execFileSync } from 'node:child_process';
import { availableParallelism, loadavg, totalmem } from 'node:os';

/** Starts to measure a run. The returned function describes it at its end. */
export function startRun() {
  const startedAt = performance.now();
  return () => ({
    date: new Date().toISOString().slice(0, 10),
    commit: getCommit(),
    machine: { cores: availableParallelism(), memoryGb: Math.round(totalmem() / 2 ** 30) },
    loadAverage: Math.round(loadavg()[2] ?? 0),
    minutes: Math.round((performance.now() - startedAt) / 6_000) / 10,
  });
}

/** The short hash of the commit, with a note if the code has uncommitted changes. */
function getCommit(): string {
  const git = (...words: string[]) =>
    execFileSync('git', ['--no-optional-locks', ...words], { cwd: import.meta.dirname })
      .toString()
      .trim();
  const isChanged = git('status', '--porcelain', '--', ':/libs', ':/services') !== '';
  return git('rev-parse', '--short', 'HEAD') + (isChanged ? ' with changes' : '');
}
