/** The order of the test files: that of Jest, but some long ones first, so that they do not run alone at the end. */
import Sequencer from '@jest/test-sequencer';

/** Files that take minutes, by the ends of their paths. */
const longFiles = ['fuzz.security.test.ts'];

// biome-ignore lint/style/noDefaultExport: Jest reads the class from the default export
export default class LongFilesFirst extends Sequencer {
  async sort(tests) {
    const isLong = ({ path }) => longFiles.some((end) => path.endsWith(end));
    const sorted = await super.sort(tests);
    return [...sorted.filter(isLong), ...sorted.filter((test) => !isLong(test))];
  }
}
