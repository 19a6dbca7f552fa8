/**
 * Runs the slow test files first: those of faults, and of alerts on a running system. They mostly wait, so
 * other files can run at the same time. At the end of a run they would run alone.
 */
import { createRequire } from 'node:module';

const { default: Sequencer } = createRequire(import.meta.url)('@jest/test-sequencer');

// biome-ignore lint/style/noDefaultExport: Jest reads its sequencer from the default export
export default class SlowFirst extends Sequencer {
  /** @param {import('@jest/test-result').Test[]} tests */
  async sort(tests) {
    const sorted = await super.sort(tests);
    const isSlow = ({ path }) => path.includes('/chaos/') || path.endsWith('/running-system.test.ts');
    return [...sorted.filter(isSlow), ...sorted.filter((test) => !isSlow(test))];
  }
}
