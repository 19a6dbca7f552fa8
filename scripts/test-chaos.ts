/** Runs the chaos tests, or those of some faults (`npm run test:chaos -- F3`), and prints the result of each fault. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { run } from 'jest';
import type { Fault, Proof } from '../tests/chaos/fault.ts';
import { faults } from '../tests/chaos/list.ts';

/** The result of one test in Jest's report. */
interface TestResult {
  /** Title with those of the enclosing `describe` blocks. */
  fullName: string;
  status: string;
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
  console.error(
    `Unknown fault: ${unknown.join(', ')}. Use some of ${known}, or none to run all chaos tests.`,
  );
  process.exit(1);
}
const folder = await mkdtemp(join(tmpdir(), 'pds-faults-'));
try {
  const file = join(folder, 'report.json');
  if (ids.length === 0) process.env.TEST_LANE = 'chaos';
  await run(['--json', `--outputFile=${file}`, ...toSelection(faults.filter(({ id }) => ids.includes(id)))]);
  const report = await readFile(file, 'utf8').catch(() => undefined);
  if (report === undefined || !printResults(JSON.parse(report))) process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** Jest's arguments that select the tests of these faults; none without a fault. */
function toSelection(chosen: readonly Fault[]): string[] {
  if (chosen.length === 0) return [];
  const proofs = chosen.flatMap((fault) => fault.proofs);
  const titles = [...new Set(proofs.flatMap(({ tests }) => tests))].map(escapeRegExp);
  const files = [...new Set(proofs.map((proof) => proof.file))];
  return ['--testNamePattern', titles.join('|'), '--runTestsByPath', ...files];
}

/** Prints the result of each fault with tests in the report. Returns whether all of them passed. */
function printResults(report: Report): boolean {
  console.log('');
  const ran = new Set(report.testResults.map(({ name }) => relative(root, name)));
  let isProven = true;
  for (const { id, fault, proofs } of faults) {
    const found = proofs.filter(({ file }) => ran.has(file)).map((proof) => findTests(proof, report));
    if (found.length === 0 || (ids.length > 0 && !ids.includes(id))) continue;
    const wrong = found.flat().filter(({ status }) => status !== 'passed');
    const hasPassed = found.every((tests) => tests.length > 0) && wrong.length === 0;
    console.log(
      `${hasPassed ? '✓' : '✗'} ${id.padEnd(4)} ${`${found.flat().length} tests`.padStart(8)}  ${fault}`,
    );
    for (const { fullName, status } of wrong) console.log(`       ${status}: ${fullName}`);
    isProven &&= hasPassed;
  }
  return isProven;
}

/** Returns the results of the tests that cover a fault. */
function findTests({ file, tests }: Proof, report: Report): TestResult[] {
  const found = report.testResults.find(({ name }) => relative(root, name) === file)?.assertionResults ?? [];
  return found.filter(({ fullName }) => tests.some((title) => fullName.includes(title)));
}

function escapeRegExp(title: string): string {
  return title.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
