/**
 * Runs a test file in the worker's own realm instead of a `vm` context. So Node loads the modules itself, types
 * are stripped without a flag, and all files of a worker share the modules that they import (ADR 27).
 */
import { registerHooks } from 'node:module';
import { relative } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { jestExpect } from '@jest/expect';
import { type AssertionResult, createEmptyTestResult, type TestResult } from '@jest/test-result';
import type { Circus, Config } from '@jest/types';
import * as circus from 'jest-circus';
import { formatExecError, formatResultsErrors } from 'jest-message-util';
import { countCoverage } from './coverage.ts';
import { watchResources } from './open-resources.ts';

const globals = new URL('./globals.ts', import.meta.url).href;
let run = 0;
registerHooks({
  resolve(specifier, context, next) {
    if (specifier === '@jest/globals') return { url: globals, shortCircuit: true };
    const resolved = next(specifier, context);
    // a test file declares its tests when it is loaded, so it is loaded anew where another test file imports it
    return resolved.url.endsWith('.test.ts') ? { ...resolved, url: `${resolved.url}?run=${run}` } : resolved;
  },
});

// these are opened at their first use, which is not a leak of the file that uses them first
void [process.stdin, process.stdout, process.stderr];

const { TEST_COVERAGE_FOLDER } = process.env;
const writeCoverage = TEST_COVERAGE_FOLDER ? countCoverage(TEST_COVERAGE_FOLDER) : undefined;

const slowness = Number(process.env.TEST_SLOWNESS ?? 1);
const timeoutKey = Symbol.for('TEST_TIMEOUT_SYMBOL');

/** A test runner for Jest (https://jestjs.io/docs/configuration#testrunner-string). */
// biome-ignore lint/style/noDefaultExport: Jest takes a test runner from the default export
export default async function runTestFile(
  globalConfig: Config.GlobalConfig,
  config: Config.ProjectConfig,
  _environment: unknown,
  _runtime: unknown,
  testPath: string,
): Promise<TestResult> {
  prepareJest(globalConfig, config, testPath);
  const { testResults, errors } = await isolate(relative(config.rootDir, testPath), async () => {
    await import(pathToFileURL(testPath).href);
    scaleTimeouts(circus.getState().rootDescribeBlock);
    return circus.run();
  });

  // not at the exit, because Jest kills a worker that is too slow then
  writeCoverage?.();

  const results = testResults.map(toAssertionResult);
  const count = (status: AssertionResult['status']) => results.filter((one) => one.status === status).length;
  const execError = { message: '', stack: errors.join('\n') };
  const messages = [
    formatResultsErrors(results, config, globalConfig, testPath),
    ...(errors.length > 0 ? [formatExecError(execError, config, globalConfig, testPath)] : []),
  ];
  return {
    ...createEmptyTestResult(),
    testFilePath: testPath,
    testResults: results,
    numPassingTests: count('passed'),
    numFailingTests: count('failed'),
    numPendingTests: count('pending'),
    numTodoTests: count('todo'),
    failureMessage: messages.filter(Boolean).join('\n\n'),
    ...(errors.length > 0 && { testExecError: execError }),
  };
}

/** Sets the state that Jest's own runner sets before each file. */
function prepareJest(
  globalConfig: Config.GlobalConfig,
  config: Config.ProjectConfig,
  testPath: string,
): void {
  circus.resetState();
  // the types of Jest's own state do not contain the key
  Reflect.set(globalThis, timeoutKey, config.testTimeout ?? globalConfig.testTimeout);
  const { testNamePattern, expand } = globalConfig;
  circus.getState().testNamePattern = testNamePattern ? new RegExp(testNamePattern, 'i') : null;
  jestExpect.setState({ testPath, expand });
}

/** Lengthens the limits that tests and hooks set themselves; the default is already scaled. */
function scaleTimeouts({ children, hooks }: Circus.DescribeBlock): void {
  for (const entry of [...children, ...hooks]) {
    if (entry.type === 'describeBlock') scaleTimeouts(entry);
    else if (entry.timeout) entry.timeout *= slowness;
  }
}

/**
 * Runs the tests of a file. Restores the environment afterwards. Adds the errors that no test caught, and one for
 * what the file left open.
 */
async function isolate(path: string, runTests: () => Promise<Circus.RunResult>) {
  run += 1;
  const [findOpen, environment] = [watchResources(path, slowness), { ...process.env }];
  const errors = watchErrors();
  try {
    const { testResults, unhandledErrors } = await runTests();
    const open = await findOpen();
    await setImmediate(); // a rejection that was handled in this turn is reported after it
    return { testResults, errors: [...unhandledErrors, ...errors.stop(), ...open] };
  } finally {
    errors.stop();
    for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
    Object.assign(process.env, environment);
  }
}

/** Collects errors that no test caught. A rejected promise counts unless it is handled later. */
function watchErrors(): { stop(): string[] } {
  const thrown: unknown[] = [];
  const rejected = new Map<Promise<unknown>, unknown>();
  const onRejected = (reason: unknown, promise: Promise<unknown>) => void rejected.set(promise, reason);
  const onHandled = (promise: Promise<unknown>) => void rejected.delete(promise);
  process.setUncaughtExceptionCaptureCallback((error) => thrown.push(error));
  process.on('unhandledRejection', onRejected).on('rejectionHandled', onHandled);
  return {
    stop() {
      process.setUncaughtExceptionCaptureCallback(null);
      process.off('unhandledRejection', onRejected).off('rejectionHandled', onHandled);
      return [...thrown, ...rejected.values()].map((error) =>
        Error.isError(error) ? (error.stack ?? error.message) : String(error),
      );
    },
  };
}

function toAssertionResult(result: Circus.TestResult): AssertionResult {
  const names = result.testPath.slice(1).map(String); // the first one is Jest's root block
  const status = {
    skip: 'pending',
    todo: 'todo',
    done: result.errors.length > 0 ? 'failed' : 'passed',
  } as const;
  return {
    ancestorTitles: names.slice(0, -1),
    title: names.at(-1) ?? '',
    fullName: names.join(' '),
    duration: result.duration ?? null,
    status: status[result.status as keyof typeof status],
    failureMessages: [...result.errors],
    failureDetails: [...result.errorsDetailed],
    invocations: result.invocations,
    location: result.location ?? null,
    numPassingAsserts: result.numPassingAsserts,
  };
}
