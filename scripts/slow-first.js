/** The order of the tests: those of faults begin first, also of those that alerts are told of, because they wait for minutes to pass and little else; at the end nobody would share them. */
import { createRequire } from 'node:module';

const { default: Sequencer } = createRequire(import.meta.url)('@jest/test-sequencer');

// biome-ignore lint/style/noDefaultExport: Jest reads its sequencer from the default export
export default class SlowFirst extends Sequencer {
  /** @param {import('@jest/test-result').Test[]} tests */
  async sort(tests) {
    const usual = await super.sort(tests);
    const isFault = ({ path }) => path.includes('/chaos/') || path.endsWith('/running-system.test.ts');
    return [...usual.filter(isFault), ...usual.filter((test) => !isFault(test))];
  }
}
