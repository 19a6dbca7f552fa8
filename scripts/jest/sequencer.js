/** The order of the test files: that of Jest, but the longest ones first, so that none runs alone at the end. */
import Sequencer from '@jest/test-sequencer';

/** The ends of the paths of files that take minutes. */
const longest = ['fuzz.security.test.ts'];

// biome-ignore lint/style/noDefaultExport: Jest reads the class from the default export
export default class LongestFirst extends Sequencer {
  async sort(tests) {
    const isLong = ({ path }) => longest.some((name) => path.endsWith(name));
    const sorted = await super.sort(tests);
    return [...sorted.filter(isLong), ...sorted.filter((test) => !isLong(test))];
  }
}
