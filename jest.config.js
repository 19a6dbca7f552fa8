/** How the tests are found and run: ES modules, types stripped by Jest itself, nothing compiled. */
// biome-ignore lint/style/noDefaultExport: Jest reads its settings from the default export
export default {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: {},
  // nobody is hurried: the machine may be busy with other tests
  testTimeout: 30_000,
  testSequencer: '<rootDir>/scripts/slow-first.js',
  // these wait for minutes: `npm run test:chaos` and `npm run test:e2e` run them, and `npm test` says that it does not
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/tests/chaos/on-demand/', '<rootDir>/tests/e2e/'],
  testMatch: ['<rootDir>/{libs,services,tests,scripts}/**/*.test.ts'],
};
