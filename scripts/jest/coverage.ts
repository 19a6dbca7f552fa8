/** Measures which lines and branches of `libs` and `services` the tests run, with V8's own counters. */
import { writeFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { Session } from 'node:inspector';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Report } from 'c8';

const root = join(import.meta.dirname, '../..');

/** Smallest accepted shares, percent. Raise them when the shares have grown. */
const required = { lines: 94, branches: 94 };

/** Starts counting in this worker. Returns a function that writes the counts since the last call to the folder. */
export function countCoverage(folder: string): () => void {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  const prefixes = ['libs', 'services'].map((name) => `${pathToFileURL(join(root, name)).href}/`);
  let files = 0;
  return () => {
    files += 1;
    // the session is in this process, so the callback runs at once
    session.post('Profiler.takePreciseCoverage', (error, taken) => {
      if (error) throw error;
      const result = taken.result.filter(({ url }) => prefixes.some((prefix) => url.startsWith(prefix)));
      writeFileSync(join(folder, `${process.pid}-${files}.json`), JSON.stringify({ result }));
    });
  };
}

/** Creates the folder for the counts of all workers. */
export function createCoverageFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'pds-coverage-'));
}

/** Prints the shares and removes the folder. Rejects if a share is too small. */
export async function reportCoverage(folder: string): Promise<void> {
  const report = new Report({
    tempDirectory: folder,
    include: ['libs/**/*.ts', 'services/**/*.ts'],
    exclude: ['**/*.test.ts', '**/testing/**'],
    excludeNodeModules: true,
    // files that no test loads count as well
    all: true,
    resolve: root,
    src: [root],
    reporter: ['json-summary'],
    reportsDirectory: join(folder, 'report'),
  });
  await report.run();
  const summary = JSON.parse(await readFile(join(folder, 'report', 'coverage-summary.json'), 'utf8'));
  const { lines, branches } = summary.total;
  await rm(folder, { recursive: true, force: true });
  process.stdout.write(
    `Coverage of libs and services: ${lines.pct} % of lines, ${branches.pct} % of branches\n`,
  );
  if (lines.pct < required.lines || branches.pct < required.branches)
    throw new Error(
      `At least ${required.lines} % of lines and ${required.branches} % of branches are required.`,
    );
}
