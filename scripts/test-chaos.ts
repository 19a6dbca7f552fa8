/**
 * Runs the chaos tests (`npm run test:chaos`, `npm run test:chaos -- F3 F11`), one file after the other, and
 * prints the result of each fault.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { type Fault, isOnDemand, type Proof } from '../tests/chaos/fault.ts';
import { faults } from '../tests/chaos/list.ts';

/** The result of one test in Jest's report. */
interface TestResult {
  /** Title with those of the enclosing `describe` blocks. */
  fullName: string;
  title: string;
  status: string;
  duration: number | null;
}

/** Jest's report of a run (`--json`). */
interface Report {
  testResults: { name: string; assertionResults: TestResult[] }[];
}

const root = join(import.meta.dirname, '..');
const ids = process.argv.slice(2).map((word) => word.toUpperCase());
const unknown = ids.filter((id) => !faults.some((fault) => fault.id === id));
if (unknown.length > 0) {
  const known = faults.map(({ id }) => id).join(', ');
  console.error(`Unknown fault: ${unknown.join(', ')}. Use some of ${known}, or none to test all faults.`);
  process.exit(1);
}
const chosen = faults.filter(({ id }) => ids.length === 0 || ids.includes(id));
const folder = await mkdtemp(join(tmpdir(), 'pds-faults-'));
try {
  const file = join(folder, 'report.json');
  const code = await run(chosen, file);
  const report = await readFile(file, 'utf8').catch(() => undefined);
  const isProven = report !== undefined && printResults(chosen, JSON.parse(report));
  process.exitCode = code === 0 && isProven ? 0 : 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function run({ flatMap }: readonly Fault[], file: string): Promise<number> {
  const proofs = flatMap((fault) => fault.proofs);
  const files = [...new Set(proofs.map((proof) => proof.file))];
  const titles = [...new Set(proofs.flatMap(({ tests }) => tests))].map(escapeRegExp);
  // run one file at a time, so that files do not slow down each other; include the tests on demand
  const options = [
    '--maxWorkers=1',
    '--testPathIgnorePatterns=/node_modules/',
    '--json',
    `--outputFile=${file}`,
  ];
  const selection = ['--testNamePattern', titles.join('|'), '--runTestsByPath', ...files];
  const guard = ['--require', join(root, 'scripts', 'end-with-parent.cjs')];
  const child = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      ...guard,
      join(root, 'scripts', 'test.ts'),
      ...options,
      ...selection,
    ],
    { cwd: root, stdio: 'inherit', env: { ...process.env, PDS_PARENT_PID: String(process.pid) } },
  );
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => child.kill(name));
  return new Promise((done) => {
    child.on('exit', (code) => done(code ?? 1));
    child.on('error', () => done(1));
  });
}

/** Prints the result of each fault. Returns whether all its tests ran and passed. */
function printResults(chosenFaults: readonly Fault[], report: Report): boolean {
  let isProven = true;
  console.log(`\n             in npm test, on demand`);
  for (const { id, fault, proofs } of chosenFaults) {
    const found = proofs.map((proof) => ({ proof, tests: findTests(proof, report) }));
    const tests = found.flatMap((result) => result.tests);
    const wrong = tests.filter(({ status }) => status !== 'passed');
    const hasPassed = found.every((result) => result.tests.length > 0) && wrong.length === 0;
    const sumSeconds = (onDemand: boolean) =>
      found
        .filter(({ proof }) => isOnDemand(proof) === onDemand)
        .flatMap((result) => result.tests)
        .reduce((sum, { duration }) => sum + (duration ?? 0) / 1000, 0);
    const times = [sumSeconds(false), sumSeconds(true)].map((seconds) =>
      `${seconds.toFixed(1)} s`.padStart(8),
    );
    const count = `${tests.length} tests`.padStart(8);
    console.log(`${hasPassed ? '✓' : '✗'} ${id.padEnd(4)} ${count} ${times.join(' ')}  ${fault}`);
    for (const { title, status } of wrong) console.log(`       ${status}: ${title}`);
    isProven &&= hasPassed;
  }
  return isProven;
}

/** Returns the results of the tests that cover a fault. */
function findTests({ file, tests }: Proof, report: Report): TestResult[] {
  const ran = report.testResults.find(({ name }) => relative(root, name) === file)?.assertionResults ?? [];
  return ran.filter(({ fullName }) => tests.some((title) => fullName.includes(title)));
}

function escapeRegExp(title: string): string {
  return title.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
