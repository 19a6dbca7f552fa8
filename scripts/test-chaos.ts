/** Proves that faults are stood (`npm run test:chaos`, `npm run test:chaos -- F3 F11`): runs every test that the list names, one file after the other, and says how each fault went. */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { type Fault, isOnDemand, type Proof } from '../tests/chaos/fault.ts';
import { faults } from '../tests/chaos/list.ts';

/** What Jest writes down of one test. */
interface Told {
  /** With the names of the groups that it is in. */
  fullName: string;
  title: string;
  status: string;
  duration: number | null;
}

/** What Jest writes down of a run (`--json`). */
interface Report {
  testResults: { name: string; assertionResults: Told[] }[];
}

const root = join(import.meta.dirname, '..');
const asked = process.argv.slice(2).map((word) => word.toUpperCase());
const unknown = asked.filter((id) => !faults.some((one) => one.id === id));
if (unknown.length > 0) {
  const known = faults.map(({ id }) => id).join(', ');
  console.error(`There is no fault ${unknown.join(', ')}: name some of ${known}, or none for all of them.`);
  process.exit(1);
}
const chosen = faults.filter(({ id }) => asked.length === 0 || asked.includes(id));
const folder = await mkdtemp(join(tmpdir(), 'pds-faults-'));
try {
  const file = join(folder, 'report.json');
  const code = await run(chosen, file);
  const report = await readFile(file, 'utf8').catch(() => undefined);
  const isProven = report !== undefined && say(chosen, JSON.parse(report));
  process.exitCode = code === 0 && isProven ? 0 : 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function run({ flatMap }: readonly Fault[], file: string): Promise<number> {
  const proofs = flatMap((one) => one.proofs);
  const files = [...new Set(proofs.map((proof) => proof.file))];
  const titles = [...new Set(proofs.flatMap(({ tests }) => tests))].map(escaped);
  // one after the other: what is measured is the system, not its neighbours; those on demand are left out otherwise
  const how = ['--maxWorkers=1', '--testPathIgnorePatterns=/node_modules/', '--json', `--outputFile=${file}`];
  const which = ['--testNamePattern', titles.join('|'), '--runTestsByPath', ...files];
  const guard = ['--require', join(root, 'scripts', 'end-with-parent.cjs')];
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', ...guard, join(root, 'scripts', 'test.ts'), ...how, ...which],
    { cwd: root, stdio: 'inherit', env: { ...process.env, PDS_PARENT_PID: String(process.pid) } },
  );
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => child.kill(name));
  return new Promise((done) => {
    child.on('exit', (code) => done(code ?? 1));
    child.on('error', () => done(1));
  });
}

/** Says how each fault went; false unless every proof was run and held. */
function say(options: readonly Fault[], report: Report): boolean {
  let isProven = true;
  console.log(`\n             in npm test, on demand`);
  for (const { id, fault, proofs } of options) {
    const found = proofs.map((proof) => ({ proof, tests: testsOf(proof, report) }));
    const tests = found.flatMap((one) => one.tests);
    const wrong = tests.filter(({ status }) => status !== 'passed');
    const isHeld = found.every((one) => one.tests.length > 0) && wrong.length === 0;
    const secondsOf = (onDemand: boolean) =>
      found
        .filter(({ proof }) => isOnDemand(proof) === onDemand)
        .flatMap((one) => one.tests)
        .reduce((sum, { duration }) => sum + (duration ?? 0) / 1000, 0);
    const times = [secondsOf(false), secondsOf(true)].map((seconds) => `${seconds.toFixed(1)} s`.padStart(8));
    const count = `${tests.length} tests`.padStart(8);
    console.log(`${isHeld ? '✓' : '✗'} ${id.padEnd(4)} ${count} ${times.join(' ')}  ${fault}`);
    for (const { title, status } of wrong) console.log(`       ${status}: ${title}`);
    isProven &&= isHeld;
  }
  return isProven;
}

/** The tests that a proof names, as they went. */
function testsOf({ file, tests }: Proof, report: Report): Told[] {
  const ran = report.testResults.find(({ name }) => relative(root, name) === file)?.assertionResults ?? [];
  return ran.filter(({ fullName }) => tests.some((title) => fullName.includes(title)));
}

function escaped(title: string): string {
  return title.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
