/** Jest configuration: ES modules, type stripping by Jest, no compilation. */
// biome-ignore lint/style/noDefaultExport: Jest reads its settings from the default export
export default {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: {},
  // long, because other tests may use the machine at the same time
  testTimeout: 120_000,
  testSequencer: '<rootDir>/scripts/slow-first.js',
  // these tests take minutes: `npm run test:chaos` and `npm run test:e2e` run them, and `npm test` prints
  // that it skips them
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/tests/chaos/on-demand/', '<rootDir>/tests/e2e/'],
  testMatch: ['<rootDir>/{libs,services,tests,scripts}/**/*.test.ts'],
};
