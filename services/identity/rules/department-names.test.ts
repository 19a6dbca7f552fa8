/** Tests the current names of departments that were renamed. */
import { expect, test } from '@jest/globals';
import { getCurrentNames } from './department-names.ts';

const rename = (name: string, former: string, until_version: number) => ({
  name,
  former_names: [{ name: former, until_version }],
});

test.each([
  ['a name that no department gave up', ['A'], 1, [], ['A']],
  ['a name that its department gave up', ['A', 'C'], 1, [rename('B', 'A', 2)], ['B', 'C']],
  ['a name that was given up before', ['A'], 2, [rename('B', 'A', 2)], ['A']],
  ['a name that two departments had', ['A'], 1, [rename('C', 'A', 4), rename('B', 'A', 2)], ['B']],
  ['the name that the second of them had', ['A'], 3, [rename('B', 'A', 2), rename('C', 'A', 4)], ['C']],
  ['two names that became one', ['A', 'B'], 1, [rename('B', 'A', 2)], ['B']],
])('%s becomes the current one', (_what, names, version, renamed, expected) => {
  expect(getCurrentNames(names, version, renamed)).toEqual(expected);
});
