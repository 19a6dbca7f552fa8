/** Prints a line for each finished test file and, at the end, the failures and the counts. */
import { relative } from 'node:path';

const slowMs = 2000;

/** A Jest reporter (https://jestjs.io/docs/configuration#custom-reporters). */
// biome-ignore lint/style/noDefaultExport: Jest takes a reporter from the default export
export default class ProgressReporter {
  #finished = 0;
  #failed = false;

  onTestResult(_test, result, totals) {
    this.#finished += 1;
    const all = String(totals.numTotalTestSuites);
    const place = `[${String(this.#finished).padStart(all.length)}/${all}]`;
    const tests = result.numPassingTests + result.numFailingTests;
    const count = `${tests} ${tests === 1 ? 'test' : 'tests'}${failures(result)}`;
    say(`${place} ${hasFailed(result) ? '✗' : '✓'} ${getName(result)}  ${count}  ${seconds(result)}`);
  }

  onRunComplete(_contexts, totals) {
    for (const result of totals.testResults.filter(hasFailed)) {
      say(`\n✗ ${getName(result)}\n`);
      for (const { type, message } of result.console ?? []) say(`  ${type}: ${message}`);
      say((result.failureMessage ?? String(result.testExecError?.message)).trimEnd());
    }
    const slowest = totals.testResults.filter((result) => took(result) >= slowMs);
    slowest.sort((a, b) => took(b) - took(a));
    if (slowest.length > 0) say('\nSlowest files:');
    for (const result of slowest.slice(0, 5)) say(`  ${seconds(result).padStart(7)}  ${getName(result)}`);

    // a file that could not run counts as a failure
    const failed = totals.numFailedTests + totals.numRuntimeErrorTestSuites;
    const skipped = totals.numPendingTests + totals.numTodoTests;
    this.#failed = failed > 0 || totals.wasInterrupted;
    if (totals.wasInterrupted) say('\nInterrupted.');
    say(`\n${totals.numPassedTests} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
    endIfStuck();
  }

  getLastError() {
    return this.#failed ? new Error('some tests failed') : undefined;
  }
}

function hasFailed(result) {
  return result.numFailingTests > 0 || result.testExecError !== undefined;
}

function failures(result) {
  if (result.testExecError && result.numFailingTests === 0) return ', did not run';
  return result.numFailingTests > 0 ? `, ${result.numFailingTests} failed` : '';
}

function getName(result) {
  return relative(process.cwd(), result.testFilePath);
}

function took(result) {
  return result.perfStats.runtime;
}

function seconds(result) {
  return `${(took(result) / 1000).toFixed(1)} s`;
}

/** Ends the process if the servers do not stop. The timer itself does not keep the process running. */
function endIfStuck() {
  const timer = setTimeout(() => {
    say('The servers of the tests did not stop within two minutes.');
    process.exit(1);
  }, 120_000);
  timer.unref();
}

function say(line) {
  process.stdout.write(`${line}\n`);
}
