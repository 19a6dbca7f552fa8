/** Jest configuration. `npx jest <path>` runs any test file; `TEST_LANE` (scripts/test.ts) selects the files of a lane. */
import { availableParallelism } from 'node:os';
import { measureSlowness } from './scripts/jest/machine-speed.js';

// test files and their workers read it; `until` waits longer on a slow machine
process.env.TEST_SLOWNESS ??= measureSlowness().toFixed(2);

/** The files that each lane leaves out. The end of a file's name says its lane. */
const otherLanes = {
  test: ['\\.(e2e|chaos|security)\\.test\\.ts$'],
  e2e: ['(?<!\\.e2e)\\.test\\.ts$'],
  chaos: ['(?<!\\.chaos)\\.test\\.ts$'],
  security: ['(?<!\\.security)\\.test\\.ts$'],
};
const cores = availableParallelism();
/** Tests mostly wait for servers, so there are more workers than cores; those of chaos tests slow down each other. */
const workers = { test: Math.ceil(cores * 1.5), e2e: cores, chaos: cores, security: cores };
const lane = process.env.TEST_LANE ?? 'test';

// biome-ignore lint/style/noDefaultExport: Jest reads its settings from the default export
export default {
  testMatch: ['<rootDir>/{libs,services,clients,tests,scripts,tools}/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', ...(process.env.TEST_LANE ? otherLanes[lane] : [])],
  testRunner: '<rootDir>/scripts/jest/test-runner.ts',
  testSequencer: '<rootDir>/scripts/jest/sequencer.js',
  reporters: ['<rootDir>/scripts/jest/progress-reporter.js'],
  globalSetup: '<rootDir>/scripts/jest/global-setup.ts',
  globalTeardown: '<rootDir>/scripts/jest/global-teardown.ts',
  maxWorkers: workers[lane],
  // a worker that is still there after it has a leak; Jest's own half a second is too short on a busy machine
  workerGracefulExitTimeout: Math.ceil(10_000 * Number(process.env.TEST_SLOWNESS)),
  testTimeout: Math.ceil(120_000 * Number(process.env.TEST_SLOWNESS)),
  transform: {},
};
